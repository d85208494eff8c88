"""Links and special files: made by the guest, to be followed by somebody else."""

from __future__ import annotations

from tests.attack.attack import SHOW, Group

_a = Group("links")


ATTACKS = [
    _a(
        "follows-its-own-link-to-a-host-file",
        """
import os
os.symlink("@SECRET@", "@SCRATCH@/link")
print(open("@SCRATCH@/link").read())
""",
        denied="path_symlink",
    ),
    _a(
        "follows-its-own-link-to-the-root",
        """
import os
os.symlink("../" * 40, "@SCRATCH@/up")
print(open("@SCRATCH@/up/" + "@SECRET@".lstrip("/")).read())
""",
        denied="path_symlink",
    ),
    _a(
        "makes-a-hard-link-to-a-host-file",
        f"""
import os
os.link("@TARGET@/victim", "@TARGET@/hard"); {SHOW}
""",
    ),
    _a(
        "makes-a-hard-link-inside-its-own-folder",
        f"""
import os
open("@SCRATCH@/a", "w").close()
os.link("@SCRATCH@/a", "@SCRATCH@/b"); {SHOW}
""",
        denied="path_link",
    ),
    _a(
        "makes-a-link-with-pathlib",
        f"""
from pathlib import Path
Path("@SCRATCH@/l").symlink_to("@SECRET@"); {SHOW}
""",
        denied="path_symlink",
    ),
    _a(
        "extracts-a-link-from-a-tar-archive",
        """
import io, os, tarfile
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w") as tar:
    info = tarfile.TarInfo("link"); info.type = tarfile.SYMTYPE; info.linkname = "@SECRET@"
    tar.addfile(info)
buffer.seek(0)
with tarfile.open(fileobj=buffer) as tar:
    try: tar.extractall("@SCRATCH@", filter="fully_trusted")
    except TypeError: tar.extractall("@SCRATCH@")
print(open("@SCRATCH@/link").read())
""",
    ),
    _a(
        "reads-where-a-link-points",
        f"""
import os
os.symlink("@SECRET@", "@SCRATCH@/where")
if os.readlink("@SCRATCH@/where"): {SHOW}
""",
    ),
    _a(
        "makes-a-named-pipe",
        f"""
import os
os.mkfifo("@SCRATCH@/pipe"); {SHOW}
""",
    ),
    _a(
        "sets-the-set-user-id-bit",
        f"""
import os, stat
open("@SCRATCH@/tool", "w").close()
os.chmod("@SCRATCH@/tool", 0o4755)
if os.stat("@SCRATCH@/tool").st_mode & stat.S_ISUID: {SHOW}
""",
    ),
]
