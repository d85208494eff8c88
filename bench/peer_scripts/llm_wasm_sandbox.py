"""Milliseconds of ``print(1+1)`` in a fresh llm-wasm-sandbox, as a JSON list."""

import json
import logging
import sys
import time

from sandbox import RuntimeType, create_sandbox

logging.disable(logging.CRITICAL)
samples = []
for number in range(int(sys.argv[1]) + 1):
    start = time.perf_counter()
    result = create_sandbox(runtime=RuntimeType.PYTHON).execute("print(1+1)")
    taken = (time.perf_counter() - start) * 1e3
    if result.stdout.strip() != "2":
        sys.exit(f"unexpected output: {result.stdout!r} {result.stderr!r}")
    if number:
        samples.append(taken)
print(f"\n{json.dumps(samples)}")
