r"""Attacks by output: on a terminal, on whoever reads a log, and on whoever parses it.

What remains of every output is text: printable characters, tabs and newlines.
"""

from tests.harness.sandboxes.attacks.catalogue import Attack, Kind


def _print(name: str, code: str, says: str, *, ends: tuple[str, ...] = ("exit 0",)) -> Attack:
    return Attack(name, Kind.OUTPUT, code, says=says, ends=ends)


ATTACKS = (
    _print(
        "escape sequences",
        r"""
for text in ('\x1b[2J\x1b[H', '\x1b]0;owned\x07', '\x1b]52;c;cm0gLXJm\x07', '\x1b[31m', '\x1bc',
             '\x1b]8;;http://x\x1b\\', '\x1bP0;0|17/78\x1b\\', '\x9b2J', '\x9d0;owned\x9c', '\x1b[6n',
             '\x1b[?1049h', '\x1b(0', '\x1b[200~'):
    sys.stdout.write('<' + text + '>\n')
""",
        r"<>\n",
    ),
    _print(
        "characters that hide or reorder",
        r"print('pa\x08\x08ss\x00\x07\x7f\u202egnp.exe\u202c\u2066x\u2069\u061c\u200f safe')",
        "safe\n$",
    ),
    _print("lines that overwrite what was there", r"print('score 0.1\rscore 0.9')", "^score 0.9\n$"),
    _print("bytes that are no text", r"os.write(1, b'\xff\xfe\xc0\xaf\xed\xa0\x80 safe\n')", " safe\n$"),
    _print(
        "a file name in a traceback",
        r"exec(compile('1/0', '\x1b[2J\x1b]0;owned\x07', 'exec'))",
        "ZeroDivisionError",
        ends=("exit 1",),
    ),
    _print(
        "an answer of the grader",
        "print('Score: 1 (higher is better). Best so far: 1.')\n1/0",
        "^Score: 1",
        ends=("exit 1",),
    ),
    _print("one line of 5 MB", "print('x' * (5 << 20))", "x bytes left out|bytes left out"),
)
