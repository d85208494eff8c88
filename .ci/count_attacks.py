"""Fails unless every attack of the table was tried, with its control: count_attacks.py REPORT TABLE.

A test that is collected no more fails nothing; only counting shows that it is gone.
"""

import json
import re
import sys
from pathlib import Path


def main(report: str, table: str) -> int:
    outcomes = json.loads(Path(report).read_text(encoding="utf-8"))["security"]
    rows = re.findall(r"^\| [a-z][\w-]+ \| (?:python|javascript)", _text(table), re.MULTILINE)
    promised = re.search(r"^(\d+) attacks\.$", _text(table), re.MULTILINE)
    if promised is None or int(promised.group(1)) != len(rows):
        print(f"{table} does not say how many attacks it has ({len(rows)} rows)")
        return 1
    needed = 2 * len(rows)
    passed = outcomes.get("passed", 0)
    others = {name: count for name, count in outcomes.items() if name != "passed"}
    print(f"{len(rows)} attacks in the table; {passed} security tests passed, {needed} needed")
    return 0 if passed >= needed and not others else 1


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
