"""Media types by file name: a fixed table, so that a plan is the same on every machine.

(``mimetypes`` reads the system's tables, which differ, and takes longer than a small run.)
"""

from __future__ import annotations

DEFAULT = "application/octet-stream"

_BY_SUFFIX = {
    "bmp": "image/bmp",
    "css": "text/css",
    "csv": "text/csv",
    "db": "application/vnd.sqlite3",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "gif": "image/gif",
    "gz": "application/gzip",
    "htm": "text/html",
    "html": "text/html",
    "ico": "image/vnd.microsoft.icon",
    "ini": "text/plain",
    "ipynb": "application/x-ipynb+json",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "log": "text/plain",
    "md": "text/markdown",
    "mjs": "text/javascript",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "pdf": "application/pdf",
    "png": "image/png",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "py": "text/x-python",
    "sqlite": "application/vnd.sqlite3",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "toml": "application/toml",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webp": "image/webp",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}


def media_type(path: str) -> str:
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return _BY_SUFFIX.get(suffix.lower(), DEFAULT) if dot else DEFAULT
