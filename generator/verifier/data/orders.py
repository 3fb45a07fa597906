"""Orders to a model: text in the data or the description that would steer a language model that reads it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from generator.defects.base import Finding, Severity
from generator.defects.registry import finding
from generator.verifier.case import Case
from generator.verifier.data import texts

_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|former|system)"
_RULES = r"(?:instruction|prompt|rule|guideline|direction|command|order|constraint|directive|message)s?"
_MODEL = (
    r"(?:a\.?i\.?(?: (?:model|agent|assistant|system|reviewer|grader))?|llms?|(?:large )?language models?|"
    r"(?:ai|virtual|coding) (?:assistant|agent)s?|chat ?bots?|chat ?gpt|gpt-?\d\w*|claude|gemini)"
)
_DUTY = r"(?:please |you (?:must |should |have to )|now )"

#: What is looked for, by its name: a cheap sign that must be there, and the form itself.
_ORDERS: dict[str, tuple[tuple[str, ...], re.Pattern[str]]] = {
    "to ignore its instructions": (
        ("instruct", "prompt", "rules", "guideline", "directi", "command", "message", "told"),
        re.compile(
            rf"\b(?:ignore|disregard|forget|override|bypass|skip|neglect)\b"
            rf"(?:(?: \w+){{0,4}} {_BEFORE}(?: \w+){{0,3}} {_RULES}"
            rf"|(?: all| any)?(?: of)?(?: your| the) {_RULES} "
            rf"(?:above|before|you (?:have )?(?:been given|were given|received|got))"
            rf"|(?: all| any)?(?: of)? your (?:\w+ )?(?:instruction|guideline|directive|prompt)s?\b"
            rf"|(?: everything| all| anything)(?: that)?(?: you)?(?: have| were)?(?: been)? told\b)"
        ),
    ),
    "about its system prompt": (
        ("prompt", "developer m"),
        re.compile(
            r"\b(?:reveal|print|show|repeat|output|leak|ignore|display|tell me|what is) (?:\w+ ){0,3}"
            r"(?:system prompt|hidden prompt|developer message)s?\b|\b(?:new|updated|your) system prompt\b|"
            r"(?:^|[\n.!?\"'(\[] ?)system prompt ?:"
        ),
    ),
    "to be somebody else": (
        ("you are now", "act as", "pretend", "developer mode", "jailbreak"),
        re.compile(
            rf"\byou are now (?:(?:a|an|the|in|acting as|no longer) )?(?:\w+ ){{0,2}}"
            rf"(?:{_MODEL}|assistant|dan|agent|jailbroken|unrestricted|developer mode|admin mode)\b|"
            r"\b(?:enable|enter|activate) (?:developer|jailbreak|god|dan) mode\b"
        ),
    ),
    "to whoever is a model": (
        ("ai", "a.i", "llm", "language model", "chat", "gpt", "claude", "gemini", "assistant"),
        re.compile(
            rf"\b(?:if|since|when|as) you(?: a|')re (?:an? |the )?{_MODEL}\b|"
            rf"\b(?:attention|note|notice|message|instructions?|reminder|order)s?(?: to| for)?,?:? "
            rf"(?:(?:the|all|any|every|an?) )?{_MODEL}(?: \w+)?(?: reading (?:this|these))? ?[:,!.-]|"
            rf"\b{_MODEL}(?: reading this)?,? (?:must|should|please|shall|has to|have to) (?:\w+ ){{0,3}}"
            r"(?:ignore|predict|output|answer|classify|label|return|rate|respond|print|set|choose)\b"
        ),
    ),
    "to give a certain answer": (
        ("predict", "classify", "classified", "label"),
        re.compile(
            # "You must predict the count" states the task; "always predict the mean" answers it.
            rf"(?:^|[\n.!?:;] ?)(?:{_DUTY}*(?:always |only |just )+{_DUTY}*"
            r"(?:predict|classify)(?: \w+){0,6} (?:as|class|category|0|1|positive|negative|the)"
            rf"|{_DUTY}+(?:predict|classify)(?:(?: \w+){{0,6}} (?:as|positive|negative)"
            r"|(?: (?!(?:the|an?|which|whether|between)\b)\w+){0,6} (?:class|category|0|1))"
            rf"|(?:{_DUTY}|always |only |just )+label (?:this|it|every|each|all)(?: \w+){{0,4}} as)\b"
        ),
    ),
    "to open what is hidden": (
        ("answer", "label", "truth", "private", "secret", "api key", "password", "credential"),
        re.compile(
            r"\b(?:print|reveal|output|leak|exfiltrate|dump|copy|upload|read|open|send|submit|cat|show)"
            r"(?: \w+){0,4} (?:test_answer\w*(?:\.csv)?|private/\S+|/?private (?:folder|directory)"
            r"|(?:ground[ -]truth|hidden|test|true|correct|private) (?:answers|labels|targets)"
            r"|(?:your|the) (?:api keys?|environment variables))(?!\w)|"
            r"(?:^|[\n.!?:;] ?)(?:please |then |now |and )*(?:print|output|leak|reveal|dump|list|show me) "
            r"(?:all )?(?:of )?the (?:\w+ )?(?:answers|labels|ground truth)\b"
        ),
    ),
    "with the marks of a chat": (
        ("<|", "[inst", "<system", "</system", "### s", "### i", "<<sys", "system:"),
        re.compile(
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>|\[/?inst\]|<<sys>>|"
            r"</?system(?:[ _-]?(?:prompt|message|instructions?))?>|"
            r"###? ?(?:system|instructions?) ?: |"
            r"(?:^|[\n.!?]) ?system: (?:you|ignore|from now|new|always|forget|the user|override)\b"
        ),
    ),
    "in other languages": (
        ("anweisung", "instruc", "instruç", "istruzion", "指令", "指示", "инструкц"),
        re.compile(
            r"\bignorier\w* (?:\w+ ){0,3}(?:vorherig|bisherig|obig|vorangegangen)\w* (?:\w+ )?anweisung|"
            r"\b(?:ignore[rz]?|oublie[rz]?) (?:\w+ ){0,3}instructions "
            r"(?:\w+ )?(?:précédent|antérieur|ci-dessus)|"
            r"\b(?:ignor[ae]|olvid[ae])\w* (?:\w+ ){0,3}(?:instrucciones|instruções|istruzioni) (?:\w+ )?"
            r"(?:anterior|previ|precedent)|(?:忽略|无视|忘记).{0,8}(?:指令|指示)|(?:以前|前|上記)の指示.{0,4}無視|"
            r"игнорируй\w* .{0,20}инструкци"
        ),
    ),
}
_HIDDEN = re.compile("[\u200b-\u200f\u2060\ufeff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]{8,}")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
_STRONG = (
    "to ignore its instructions",
    "with the marks of a chat",
    "to be somebody else",
    "in other languages",
)
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]+")


def check(case: Case) -> Iterator[Finding]:
    """Where text gives orders to a model; what it says is not repeated."""
    said = [place for text in texts.columns(case) for place in _found(text)]
    said += [place for text in texts.files(case) for place in _found(text)]
    said += [place for text in texts.names(case) for place in _found(text)]
    if said:
        places = list(dict.fromkeys(said))
        yield finding(
            "prompt_injection",
            "orders to a model: "
            + "; ".join(places[:8])
            + f"; and {len(places) - 8} more" * (len(places) > 8),
            "drop these texts, or say in the description that they are data",
        )
    yield from _check_description(case)


def _check_description(case: Case) -> Iterator[Finding]:
    words = case.task.description_path.read_text(encoding="utf-8", errors="replace")
    orders = orders_in(words)
    if orders:
        yield finding(
            "prompt_injection",
            f"description.txt gives orders to a model: {', '.join(orders)}",
            "describe the task, and leave it to candidates how to work",
            Severity.ERROR if set(orders) & set(_STRONG) else None,
        )


def _found(text: texts.Text) -> Iterator[str]:
    """Orders in one place with the count of cells; all cells at once are searched first."""
    hiding = text.cells.str.contains(_ENCODED) | text.cells.str.contains(_TAGS)
    cells = text.cells if _orders("\n".join(text.cells)) else text.cells[hiding]
    counts: dict[str, int] = {}
    for cell in cells:
        for order in orders_in(cell):
            counts[order] = counts.get(order, 0) + 1
    for order, count in counts.items():
        yield f"{text.where}, {order}" + (f" ({count} cells)" if text.column else "")


def orders_in(words: str) -> list[str]:
    """The orders that a text gives, by their names; also those that are encoded or hidden in it."""
    found = _orders(words)
    hidden = "".join(chr(ord(sign) - 0xE0000) for match in _TAGS.findall(words) for sign in match)
    decoded = [text for match in _ENCODED.findall(words)[:50] if (text := _decoded(match))]
    for text in [hidden, *decoded]:
        found += [f"{order}, hidden" for order in _orders(text)] if text else []
    return list(dict.fromkeys(found))


def _orders(words: str) -> list[str]:
    lowered = _SPACES.sub(" ", _HIDDEN.sub("", words).lower())
    return [
        order
        for order, (signs, form) in _ORDERS.items()
        if any(sign in lowered for sign in signs) and form.search(lowered)
    ]


def _decoded(code: str) -> str:
    """What base64 stands for, when that is text."""
    try:
        text = base64.b64decode(code + "=" * (-len(code) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return text if text.isprintable() else ""
