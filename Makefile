# A thin front of dev.py, which also works without make: python3 dev.py help
PYTHON ?= python3
ARGS ?=
COMMANDS := run test test-slow lint check guests guests-check guests-verify bench lock help

.DEFAULT_GOAL := help
.PHONY: $(COMMANDS)
$(COMMANDS):
	@$(PYTHON) dev.py $@ $(ARGS)
