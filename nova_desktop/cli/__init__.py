"""The ``nova`` command line: turns arguments into one ``Engine`` call and shows what it answers.

It holds no rules. One file per command; ``main`` is the edge where every error gets its one
form and its exit code.
"""
