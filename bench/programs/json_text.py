"""Writing and reading JSON."""

import json


def work():
    rows = [{"id": i, "name": f"row {i}", "tags": ["a", "b"], "x": i / 7} for i in range(2_000)]
    for _ in range(3):
        rows = json.loads(json.dumps(rows))
    return len(rows)
