"""What a question takes for granted, and the plain question that would show whether it is so.

"Why did Halden Works move its headquarters to Orlune?" presupposes a move to Orlune; "Where is Halden Works
headquartered?" probes it, and the claimed value is Orlune. "When did Ilan Corvey stop being the mayor of Tessmark?"
is probed by "Who is the mayor of Tessmark?": unless Ilan Corvey once was and no longer is, the question is wrong.
"""

import re
from functools import lru_cache

from aiq.core.base import Record
from aiq.offline.reading.text import names, words


class Claim(Record):
    """`text` is the statement presupposed. `probe` and `value` are empty where no plain question tests it.

    `ended`: the claim says that something came to an end, so that the value still being true refutes it.
    """

    text: str
    subject: str
    words: tuple[str, ...]
    probe: str = ""
    value: str = ""
    ended: bool = False


_PRESUPPOSES = re.compile(
    r"^(?:why|how come|when|since when|how) (?:did|does|do|has|have|had|was|were|is|are|will) (?P<why>.+)$"
    r"|^(?:in |on )?(?:what|which) (?:year|month|date|day|role)s? (?:did|was|were|has|have) (?P<dated>.+)$",
    re.IGNORECASE,
)

_PROBES: tuple[tuple[str, str, bool], ...] = (
    (
        r"^(?P<value>.+?) (?:stop(?:ped)? being|cease to be|resign as|step down as|quit as|retire as"
        r"|leave office as) (?P<thing>.+)$",
        "Who is {thing}?",
        True,
    ),
    (r"^(?P<value>.+?) become (?P<thing>(?:the )?[a-z ]+ (?:of|at) .+)$", "Who is {thing}?", False),
    (r"^(?P<thing>.+?) move its headquarters (?:from .+ )?to (?P<value>.+)$", "Where is {thing} headquartered?", False),
    (
        r"^(?P<thing>.+?) (?:study at|attend|graduate from|leave) (?P<value>.+?)(?: with a degree)?$",
        "At which institute did {thing} study?",
        False,
    ),
    (r"^(?P<thing>.+?) born in (?P<value>[A-Z].+)$", "In which city was {thing} born?", False),
    (r"^(?P<thing>.+?) (?:held|located) in (?P<value>[A-Z].+)$", "In which city is {thing} held?", False),
    (r"^(?P<value>.+?) (?P<verb>write|found|paint|direct|invent|create"
    r"|compose) (?P<thing>.+)$", "Who {verb} {thing}?", False),
)  # fmt: skip
_PASTS = {"write": "wrote", "found": "founded", "paint": "painted", "direct": "directed", "invent": "invented"}

_CHINESE = re.compile(r"为什么|为何|什么时候|何时|哪一?年")


@lru_cache(maxsize=1024)
def find(question: str) -> Claim | None:
    """The claim behind a why- or when-question that names something; None for other questions."""
    match = _PRESUPPOSES.match(question.strip().rstrip("?"))
    if match is None:
        return None
    text = match.group("why") or match.group("dated")
    found = names(text)
    if not found:
        return None
    for pattern, probe, ended in _PROBES:
        if parts := re.match(pattern, text):
            pieces = parts.groupdict()
            verb = pieces.get("verb") or ""
            asked = probe.format(thing=pieces["thing"], verb=_PASTS.get(verb, f"{verb}d"))
            value = pieces["value"].strip()
            if not names(value):
                continue
            return Claim(text=text, subject=found[0], words=words(text), probe=asked, value=value, ended=ended)
    return Claim(text=text, subject=found[0], words=words(text))


def find_chinese(question: str) -> Claim | None:
    """The claim behind a Chinese why- or when-question, without a probe."""
    if _CHINESE.search(question) is None:
        return None
    text = _CHINESE.sub("", question)
    return Claim(text=text, subject="", words=words(text))
