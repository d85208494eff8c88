"""Which program the owner means: a file, a file inside the workspace, or standard input."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from nova_desktop.cli.terminal import is_terminal
from nova_desktop.execute.validate import MAX_SOURCE_BYTES, read_program
from nova_desktop.model import ErrorInfo, InvalidRequest, Language

STDIN = "-"

LANGUAGE_OF_SUFFIX = {
    ".py": Language.PYTHON,
    ".js": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
    ".sh": Language.BASH,
    ".bash": Language.BASH,
}


@dataclass(frozen=True, slots=True)
class Program:
    language: Language
    name: str
    """As the owner typed it; tracebacks use it."""
    source: str | None = None
    entry: str | None = None
    """Its path relative to the workspace, when it lies there."""
    folder: Path | None = None
    """Where the owner keeps it. Nothing of it is staged; it only serves ``missing_sibling``."""


def find_program(file: str | None, language: str | None, work: Path | None) -> Program:
    """Read the program, or find it inside the workspace.

    Raises:
        InvalidRequest: no program or no language is named, or the file cannot be read.
    """
    if file is None:
        if is_terminal(sys.stdin):
            raise InvalidRequest(
                "request.no_program",
                "No program was named.",
                "Name a file (nova run report.py), or - to type or pipe one in.",
            )
        file = STDIN
    if file == STDIN:
        return Program(_language(language, None), "<stdin>", source=_read_stdin())
    path = Path(file)
    chosen = _language(language, path)
    if work is not None and (entry := _entry(path, work)) is not None:
        return Program(chosen, file, entry=entry)
    return Program(chosen, file, source=read_program(path), folder=path.absolute().parent)


def missing_sibling(program: Program, error: ErrorInfo | None) -> str:
    """The hint for a program that looked for something that lies beside it on the host.

    Only ``--work`` is staged: a folder that somebody only runs a program from may hold
    anything, and the program would see it all.
    """
    if program.folder is None or error is None:
        return ""
    candidates: list[str] = []
    if module := error.details.get("module", "").split(".")[0]:
        candidates += [f"{module}.py", module]
    if path := error.details.get("path", ""):
        candidates.append(path.removeprefix("/work/").removeprefix("./"))
    for name in candidates:
        inside = name and not Path(name).is_absolute() and ".." not in Path(name).parts
        if inside and _exists(program.folder / name):
            return (
                f"{name} lies beside your program but was not staged:"
                f" add --work {_quoted(program.folder)}"
            )
    return ""


def _exists(path: Path) -> bool:
    """``Path.exists``, for a name that the program made up: too long, unreadable, with a NUL."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _quoted(folder: Path) -> str:
    try:
        shown = folder.relative_to(Path.cwd())
    except ValueError:
        shown = folder
    text = str(shown)
    return f'"{text}"' if " " in text else text


def _entry(path: Path, work: Path) -> str | None:
    """The program's path inside the workspace, or None when it lies elsewhere."""
    # Folders are compared after links are resolved, the file's own name is not: a link inside
    # the workspace that leads out of it is the engine's to refuse.
    try:
        real = path.absolute().parent.resolve() / path.name
        root = work.resolve()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of links (until 3.13)
        return None
    if real == root:
        return root.name
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


def _language(named: str | None, path: Path | None) -> Language:
    if named is not None:
        try:
            return Language(named.lower())
        except ValueError:
            raise InvalidRequest(
                "request.unknown_language",
                f"{named!r} is not a language that Nova runs.",
                f"Use one of {', '.join(Language)}.",
            ) from None
    if path is not None and (known := LANGUAGE_OF_SUFFIX.get(path.suffix.lower())):
        return known
    if path is not None:
        read_program(path)  # a folder, or a name that is not there, is what is wrong first
    what = "A program from standard input" if path is None else f"The name {path.name!r}"
    raise InvalidRequest(
        "request.language_not_named",
        f"{what} does not tell its language.",
        "Name it: -l python or -l javascript.",
    )


def _read_stdin() -> str:
    content = sys.stdin.buffer.read(MAX_SOURCE_BYTES + 1)
    if len(content) > MAX_SOURCE_BYTES:
        raise InvalidRequest(
            "request.source_too_large",
            f"The program on standard input is longer than {MAX_SOURCE_BYTES:,} bytes.",
            "Put its data in a file and read it from there.",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest(
            "program.not_utf8",
            "The program on standard input is not valid UTF-8.",
            "Save it as UTF-8 before piping it in.",
        ) from None
