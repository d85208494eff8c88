"""Fails unless every attack of the table was tried, and its control too.

``count_attacks.py REPORT TABLE``: a test that is not collected any more fails nothing; only
counting shows that it is gone.
"""

import collections
import json
import re
import sys
from pathlib import Path

TESTS_OF_AN_ATTACK = 2
"""That it is stopped, and that it could succeed."""


def main(report: str, table: str) -> int:
    text = Path(table).read_text(encoding="utf-8")
    names = re.findall(r"^\| (?!attack )([\w.-]+) \|", text, re.MULTILINE)
    passed = collections.Counter(
        test.partition("[")[2].rstrip("]")
        for test, outcome in json.loads(Path(report).read_text(encoding="utf-8")).items()
        if outcome == "passed" and test.startswith("tests/attack/")
    )
    untried = [name for name in names if passed[name] < TESTS_OF_AN_ATTACK]
    print(f"{len(names) - len(untried)} of {len(names)} attacks were tried, each with its control")
    for name in untried:
        print(f"not tried, or not with its control: {name}")
    said = re.search(r"^(\d+) attacks\.$", text, re.MULTILINE)
    if said is None or int(said.group(1)) != len(names):
        print(f"{table} does not say that it has {len(names)} attacks")
        return 1
    return 1 if untried or not names else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
