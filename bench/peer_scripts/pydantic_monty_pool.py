"""Milliseconds of ``1+1`` in a fresh session of a running pydantic-monty pool, as a JSON list."""

import json
import sys
import time

from pydantic_monty import Monty

samples = []
with Monty() as pool:
    for number in range(int(sys.argv[1]) + 1):
        start = time.perf_counter()
        with pool.checkout() as session:
            value = session.feed_run("1+1")
        taken = (time.perf_counter() - start) * 1e3
        if value != 2:
            sys.exit(f"unexpected value: {value!r}")
        if number:
            samples.append(taken)
print(json.dumps(samples))
