"""``python -m bench [--quick] [--json] [--only NAME ...]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.cpu import cpu_bound
from bench.disk import first_start
from bench.host_call import host_calls
from bench.memory import memory
from bench.staging import staging
from bench.startup import fresh_starts, whole_process
from bench.table import Section
from nova_desktop import Engine
from nova_desktop.sandbox.wasm import WasmRuntime


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds: a first look")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="start, cpu, disk, ...")
    parser.add_argument("--home", metavar="DIR", help="keep the compiled guests there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        # Its own home: the user's caches are neither used nor touched, by children either.
        home = options.home or temporary
        os.environ["NOVA_HOME"] = home
        cache = Path(home) / "cache"
        cache.mkdir(mode=0o700, exist_ok=True)
        with Engine.open() as engine:
            runtime = WasmRuntime(cache=cache)
            try:
                return _measure(options, engine, runtime)
            finally:
                runtime.close()


def _measure(options: argparse.Namespace, engine: Engine, runtime: WasmRuntime) -> int:
    quick = options.quick
    groups: dict[str, Callable[[], Iterable[Section]]] = {
        "start": lambda: fresh_starts(engine, runtime, quick=quick),
        "process": lambda: [whole_process(quick=quick)],
        "cpu": lambda: [cpu_bound(engine, quick=quick)],
        "calls": lambda: [host_calls(runtime, quick=quick)],
        "memory": lambda: [memory(engine, quick=quick)],
        "disk": first_start,
        "staging": lambda: [staging(engine, quick=quick)],
    }
    chosen = options.only or list(groups)
    if unknown := [name for name in chosen if name not in groups]:
        print(f"There is no {', '.join(unknown)}; there are {', '.join(groups)}.", file=sys.stderr)
        return 2
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    document: dict[str, object] = {"machine": machine, "python": platform.python_version()}
    sections: list[Section] = []
    if not options.json:
        print(f"{machine}, Python {platform.python_version()}. Times are medians.\n")
    for name in chosen:
        for section in groups[name]():
            sections.append(section)
            if not options.json:
                print("\n".join(section.lines()), flush=True)
    if options.json:
        document["sections"] = [section.to_json() for section in sections]
        print(json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
