"""Attacks on whoever takes a file out of the sandbox: ``submission.csv`` is none."""

from harness.sandboxes.base import Refusal
from tests.harness.sandboxes.attacks.catalogue import Attack, Kind

NAME = "submission.csv"


def _hand(name: str, code: str, *gives: str, fetch: str = NAME) -> Attack:
    given = gives or (Refusal.NOT_A_FILE,)
    return Attack(name, Kind.FILE, f"NAME = {NAME!r}\n{code}", fetch=fetch, gives=given)


ATTACKS = (
    _hand("a link to the answers", "os.symlink(HOST['secrets'][0], NAME)"),
    _hand("a link to a device", "os.symlink('/dev/zero', NAME)"),
    _hand("a link to a file of its own", "open('real', 'w').write('x')\nos.symlink('real', NAME)"),
    _hand("a link to itself", "os.symlink(NAME, NAME)"),
    _hand("a link into the reader's own process", "os.symlink('/proc/self/environ', NAME)"),
    _hand(
        "a file behind a linked folder",
        "os.symlink('/proc/self', 'folder')",
        Refusal.UNREADABLE,
        fetch="folder/mem",
    ),
    _hand("a named pipe", "os.mkfifo(NAME)"),
    _hand("a socket", "import socket\nsocket.socket(socket.AF_UNIX).bind(NAME)"),
    _hand("a folder", "os.makedirs(NAME + '/deep')"),
    _hand("nothing", "", Refusal.MISSING),
    _hand(
        "a folder where a file should be on the way",
        "open('file', 'w')",
        Refusal.MISSING,
        fetch="file/submission.csv",
    ),
    _hand("closed to its owner", "open(NAME, 'w').write('x')\nos.chmod(NAME, 0)", Refusal.UNREADABLE),
    _hand(
        "sparse, and larger than is read", "os.truncate(open(NAME, 'w').name, 40 << 20)", Refusal.TOO_LARGE
    ),
    _hand("full, and larger than is read", "open(NAME, 'wb').write(b'x' * (20 << 20))", Refusal.TOO_LARGE),
    _hand(
        "changed while it is read",
        """
import time
open(NAME, 'w').write('honest')
if os.fork() == 0:
    os.setsid()
    end = time.time() + 20
    while time.time() < end:
        os.symlink(HOST['secrets'][0], 'link')
        os.replace('link', NAME)
        open('file', 'w').write('honest' * 1000)
        os.replace('file', NAME)
open(NAME)
""",
        "content",
        Refusal.NOT_A_FILE,
    ),
    _hand(
        "a hard link to what is shown",
        """
attempt('link', lambda: os.link('/mlesmith/public/train.csv', NAME))
os.path.exists(NAME) or print('refused')
""",
        Refusal.MISSING,
    ),
    _hand(
        "among names made to hurt",
        """
for name in (b'-rf', b'\\x1b]0;owned\\x07', b'a\\nb', b'\\xff\\xfe', b'*', b'$(id)', b'x' * 255,
             b'..\\\\..', b"';--",
             'gr\\u202eahc'.encode(), b' ', b'~', b'main.py '):
    open(name, 'wb').write(b'x')
    os.makedirs(b'folder-' + name[:200], exist_ok=True)
""",
        Refusal.MISSING,
    ),
)
