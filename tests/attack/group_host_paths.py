"""Host files, by every route that reads or writes a path."""

from __future__ import annotations

from tests.attack.attack import JS, SHOW, Group

_a = Group("host paths")


ATTACKS = [
    _a("reads-a-host-file-by-absolute-path", 'print(open("@SECRET@").read())'),
    _a(
        "reads-a-host-file-by-dot-dot",
        """
import os
print(open("../" * 40 + "@SECRET@".lstrip("/")).read())
""",
    ),
    _a(
        "reads-a-host-file-by-dots-inside-a-path",
        """
import os
os.makedirs("@SCRATCH@/a/b", exist_ok=True)
print(open("@SCRATCH@/a/b/" + "../" * 40 + "@SECRET@".lstrip("/")).read())
""",
    ),
    _a(
        "reads-a-host-file-by-os-open",
        """
import os
print(os.read(os.open("@SECRET@", os.O_RDONLY), 200))
""",
    ),
    _a(
        "reads-a-host-file-relative-to-the-root-descriptor",
        """
import os
root = os.open("/", os.O_RDONLY)
print(os.read(os.open("@SECRET@".lstrip("/"), os.O_RDONLY, dir_fd=root), 200))
""",
    ),
    _a(
        "climbs-above-the-root-descriptor",
        """
import os
root = os.open("/", os.O_RDONLY)
print(os.read(os.open("../../.." + "@SECRET@", os.O_RDONLY, dir_fd=root), 200))
""",
    ),
    _a("reads-a-host-file-through-proc-self-root", 'print(open("/proc/self/root@SECRET@").read())'),
    _a(
        "reads-a-host-file-through-proc-cwd",
        """
print(open("/proc/self/cwd/" + "../" * 40 + "@SECRET@".lstrip("/")).read())
""",
    ),
    _a("reads-a-host-file-with-doubled-slashes", 'print(open("//" + "@SECRET@").read())'),
    _a(
        "reads-a-host-file-by-file-url",
        """
import urllib.request
print(urllib.request.urlopen("file://@SECRET@").read())
""",
    ),
    _a(
        "reads-a-host-file-with-linecache",
        """
import linecache
print(linecache.getline("@SECRET@", 1))
""",
    ),
    _a(
        "reads-a-host-file-with-fileinput",
        """
import fileinput
print(list(fileinput.input(["@SECRET@"])))
""",
    ),
    _a(
        "copies-a-host-file-with-shutil",
        """
import shutil
shutil.copyfile("@SECRET@", "@SCRATCH@/copy")
print(open("@SCRATCH@/copy").read())
""",
    ),
    _a(
        "reads-a-host-file-with-io-fileio",
        """
import io
print(io.FileIO("@SECRET@").read())
""",
    ),
    _a(
        "reads-a-host-file-with-io-open-code",
        """
import io
print(io.open_code("@SECRET@").read())
""",
    ),
    _a(
        "imports-a-host-file-as-source",
        """
import importlib.machinery
loader = importlib.machinery.SourceFileLoader("stolen", "@SECRET@")
print(loader.get_data("@SECRET@"))
""",
    ),
    _a(
        "opens-a-host-file-as-sqlite-database",
        f"""
import sqlite3
db = sqlite3.connect("file:@TARGET@/stolen.db", uri=True)
db.execute("create table t(a)"); db.commit()
import os
if os.path.exists("@TARGET@"): {SHOW}
""",
    ),
    _a(
        "attaches-a-host-database",
        f"""
import sqlite3
db = sqlite3.connect(":memory:")
db.execute("attach '@TARGET@/attached.db' as x")
db.execute("create table x.t(a)"); db.commit(); {SHOW}
""",
    ),
    _a(
        "dumps-a-database-to-a-host-path",
        f"""
import sqlite3
sqlite3.connect(":memory:").execute("vacuum into '@TARGET@/vacuum.db'"); {SHOW}
""",
    ),
    _a(
        "writes-a-host-file",
        f"""
with open("@TARGET@/written", "w") as f: f.write("x")
{SHOW}
""",
    ),
    _a(
        "writes-a-host-file-with-a-logging-handler",
        f"""
import logging
logging.FileHandler("@TARGET@/log").emit(logging.makeLogRecord({{"msg": "x"}})); {SHOW}
""",
    ),
    _a(
        "makes-a-folder-on-the-host",
        f"""
import os
os.mkdir("@TARGET@/folder"); {SHOW}
""",
    ),
    _a(
        "makes-a-temporary-file-on-the-host",
        f"""
import tempfile
tempfile.NamedTemporaryFile(dir="@TARGET@"); {SHOW}
""",
    ),
    _a(
        "moves-its-own-file-to-the-host",
        f"""
import os
open("@SCRATCH@/mine", "w").write("x")
os.rename("@SCRATCH@/mine", "@TARGET@/moved"); {SHOW}
""",
    ),
    _a(
        "lists-a-host-folder",
        f"""
import os
if os.listdir("@TARGET@") is not None: {SHOW}
""",
    ),
    _a(
        "walks-the-whole-tree-for-a-host-name",
        f"""
import os
for folder in ("/etc", "/home", "/root", "/var", "/opt"):
    if any(True for _ in os.scandir(folder)): {SHOW}; break
""",
    ),
    _a(
        "asks-whether-a-host-file-exists",
        f"""
import os
if os.path.exists("@SECRET@") or os.access("@SECRET@", os.R_OK): {SHOW}
""",
    ),
    _a(
        "asks-the-size-of-a-host-file",
        f"""
import os
if os.stat("@SECRET@").st_size: {SHOW}
""",
    ),
    _a(
        "changes-the-current-folder-to-the-host",
        f"""
import os
os.chdir("@TARGET@"); {SHOW}
""",
    ),
    _a(
        "globs-host-files",
        f"""
import glob
if glob.glob("/etc/*"): {SHOW}
""",
    ),
    _a(
        "extracts-a-tar-member-with-an-absolute-path",
        f"""
import io, os, tarfile
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w") as tar:
    info = tarfile.TarInfo("@TARGET@/from-tar"); info.size = 1
    tar.addfile(info, io.BytesIO(b"x"))
buffer.seek(0)
with tarfile.open(fileobj=buffer) as tar:
    try: tar.extractall("/", filter="fully_trusted")
    except TypeError: tar.extractall("/")
if os.path.exists("@TARGET@/from-tar"): {SHOW}
""",
    ),
    _a(
        "removes-a-host-file",
        f"""
import os
os.unlink("@TARGET@/victim"); {SHOW}
""",
    ),
    _a(
        "truncates-a-host-file",
        f"""
import os
os.truncate("@TARGET@/victim", 0); {SHOW}
""",
    ),
    _a(
        "changes-the-times-of-a-host-file",
        f"""
import os
os.utime("@TARGET@/victim", (1, 1)); {SHOW}
""",
    ),
    _a(
        "opens-inherited-descriptors-by-number",
        """
import os
for number in range(3, 400):
    try: data = os.pread(number, 200, 0)
    except OSError: continue
    if b"{canary}" in data: print(data)
""".replace("{canary}", "nova-secret"),
    ),
    _a(
        "opens-descriptors-through-dev-fd",
        """
import os
for number in range(3, 400):
    try: print(open(f"/dev/fd/{number}").read(200))
    except (OSError, UnicodeDecodeError): continue
""",
    ),
    _a(
        "reads-the-disk-device",
        f"""
import os
if os.listdir("/dev") and os.path.exists("/dev/tty"): {SHOW}
""",
    ),
    _a(
        "reads-a-host-file-from-javascript",
        """
import fs from "fs";
console.log(fs.readFileSync("@SECRET@", "utf8"));
""",
        **JS,
    ),
    _a(
        "reads-a-host-file-by-dot-dot-from-javascript",
        """
import fs from "fs";
console.log(fs.readFileSync("../".repeat(40) + "@SECRET@".slice(1), "utf8"));
""",
        **JS,
    ),
    _a(
        "writes-a-host-file-from-javascript",
        """
import fs from "fs";
fs.writeFileSync("@TARGET@/from-js", "x"); console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "lists-a-host-folder-from-javascript",
        """
import fs from "fs";
if (fs.readdirSync("/etc").length) console.log("REA" + "CHED");
""",
        **JS,
    ),
    _a(
        "imports-a-host-file-as-a-javascript-module",
        """
const found = await import("@MODULE@"); if (found.reached) console.log("REA" + "CHED");
""",
        **JS,
    ),
]
