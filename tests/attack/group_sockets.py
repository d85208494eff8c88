"""Every door to a network that the languages have."""

from __future__ import annotations

from nova_desktop.model import Language
from tests.attack.attack import SHOW, Group

_a = Group("sockets")


ATTACKS = [
    _a(
        "connects-with-a-plain-socket",
        f"""
import socket
s = socket.socket(); s.connect(("127.0.0.1", @PORT@)); {SHOW}
""",
    ),
    _a(
        "connects-with-create-connection",
        f"""
import socket
socket.create_connection(("127.0.0.1", @PORT@), 2); {SHOW}
""",
    ),
    _a(
        "connects-with-the-c-module",
        f"""
import _socket
_socket.socket().connect(("127.0.0.1", @PORT@)); {SHOW}
""",
    ),
    _a(
        "fetches-with-urllib",
        f"""
import urllib.request
urllib.request.urlopen("http://127.0.0.1:@PORT@/", timeout=2).read(); {SHOW}
""",
    ),
    _a(
        "fetches-with-http-client",
        f"""
import http.client
c = http.client.HTTPConnection("127.0.0.1", @PORT@, timeout=2); c.request("GET", "/")
c.getresponse(); {SHOW}
""",
    ),
    _a(
        "connects-with-asyncio",
        f"""
import asyncio
async def main():
    await asyncio.open_connection("127.0.0.1", @PORT@); {SHOW}
asyncio.run(main())
""",
    ),
    _a(
        "listens-for-connections",
        f"""
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); {SHOW}
""",
    ),
    _a(
        "sends-a-datagram",
        f"""
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", @PORT@)); {SHOW}
""",
    ),
    _a(
        "makes-a-socket-pair",
        f"""
import socket
a, b = socket.socketpair(); a.send(b"x"); b.recv(1); {SHOW}
""",
    ),
    _a(
        "looks-up-a-name",
        f"""
import socket
if socket.getaddrinfo("localhost", 80): {SHOW}
""",
    ),
    _a(
        "serves-with-asyncio",
        f"""
import asyncio
async def main():
    await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0); {SHOW}
asyncio.run(main())
""",
    ),
    _a(
        "serves-with-socketserver",
        f"""
import socketserver
socketserver.TCPServer(("127.0.0.1", 0), None); {SHOW}
""",
    ),
    _a(
        "sends-mail",
        f"""
import smtplib
try: smtplib.SMTP("127.0.0.1", @PORT@, timeout=2)
except smtplib.SMTPException: {SHOW}
""",
    ),
    _a(
        "opens-ftp",
        f"""
import ftplib
try: ftplib.FTP().connect("127.0.0.1", @PORT@, timeout=2)
except ftplib.Error: {SHOW}
""",
    ),
    _a(
        "fetches-from-javascript",
        """
await fetch("http://127.0.0.1:@PORT@/"); console.log("REA" + "CHED");
""",
        language=Language.JAVASCRIPT,
    ),
    _a(
        "opens-a-net-module-from-javascript",
        """
import net from "net";
net.connect(@PORT@, "127.0.0.1", () => { console.log("REA" + "CHED"); process.exit(0); });
""",
        language=Language.JAVASCRIPT,
    ),
    _a(
        "opens-http-from-javascript",
        """
import http from "http";
http.get("http://127.0.0.1:@PORT@/", () => { console.log("REA" + "CHED"); process.exit(0); });
""",
        language=Language.JAVASCRIPT,
    ),
]
