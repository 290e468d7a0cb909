"""Writing: a short answer, findings, a summary, a reply in somebody's place, small talk; a report is in `report`.

Every statement is a sentence of the material with its citation, or says what was not found.
"""

import re
from dataclasses import replace

from aiq.core.seeds import derive
from aiq.offline.engine import research
from aiq.offline.engine.answer import Answer, answer, rank
from aiq.offline.engine.cite import Citations, dated, merged, told
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Situation, Source
from aiq.offline.engine.report import report
from aiq.offline.engine.text import is_chinese, sentences, stems

FINDINGS = 12
"""Sentences that a query's findings hold at most."""
ANSWER = 3
"""Sentences of an answer, and points of a list, where the prompt does not say how many."""
SUMMARY = 400
"""Characters of a summary where the prompt does not say how many."""
DOUBT = 0.1
"""The reader's confidence below which it is said that the evidence does not suffice."""
_SMALL_TALK = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|day)|thanks?|thank you|bye|how are you|okay|你好|您好|谢谢|再见)\b"
    r"|\b(?:who|what) are you\b|\bwhat (?:can|do) you do\b|\byour (?:name|capabilities)\b|你(?:是谁|能做什么|会什么)",
    re.IGNORECASE,
)
_LEADS = {
    "en": ("The answer is {}", "It is {}", "According to the sources, it is {}", "The sources say: {}"),
    "zh": ("答案是{}", "是{}", "根据资料，是{}"),
}
_SUMMARY = re.compile(r"\bsummar(?:y|i[sz]e)\b|总结|概括|摘要|\bwhat the (?:above|following|document|text) is\b", re.I)
_IN_PLACE = re.compile(
    r"\b(?:play|act as|pretend to be|reply as|in the place of)\b[^.\n]*\b(?:person|user|customer|someone)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[`\"“']([^`\"”'\n]{1,60})[`\"”']")

Said = list[tuple[str, list[Source]]]
"""Sentences with the sources that say them."""


def write(situation: Situation, orders: Orders) -> str:
    """The reply's text: what the material supports, in the asked form; never empty."""
    if _IN_PLACE.search(situation.instructions):
        return _in_place(situation, orders)
    if is_small_talk(situation.task) and not situation.sources:
        return small_talk(situation.task)
    if _SUMMARY.search(situation.instructions) and situation.sources and not situation.steps:
        return _summary(situation, orders)
    if _handed(situation) and situation.sources:
        return _findings(situation, orders)
    if research.is_question(situation.task) or not situation.sources:
        return _answered(situation, orders)
    return report(situation, orders)


def is_small_talk(text: str) -> bool:
    """Whether a message is about the assistant or the conversation, not about the world."""
    return len(text) < 80 and _SMALL_TALK.search(text) is not None


def small_talk(text: str) -> str:
    """A friendly reply to a message that asks nothing of the world."""
    if is_chinese(text):
        return "你好！我可以查找资料，回答问题并注明来源，也可以撰写研究报告。"
    return "Hello! I answer questions with cited sources and write research reports. What would you like to know?"


# answers


def _answered(situation: Situation, orders: Orders) -> str:
    """The answer first, then the sentences that show it, then what else is known where more is wanted."""
    found = _found(situation, orders)
    if orders.bare and found.kind == "value":
        return dated(found.value, orders.date_form)
    said = _statements(found, situation, orders)
    more = [(e.sentence, e.source) for e in rank(situation.task, situation.sources, situation.now, most=20)]
    known = {sentence for sentence, _ in said}
    said += [(s, of) for s, of in merged(more).items() if s not in known] if found.kind != "none" else []
    least = len(known) if not orders.bullets else max(len(known), ANSWER)
    return _composed(said, orders, least, ANSWER + (found.kind == "premise"))


def _found(situation: Situation, orders: Orders) -> Answer:
    """What the reader finds: where the oldest evidence counts, in the oldest dated source that answers."""
    here, context = situation, "\n".join(text for _, text in situation.history)
    for source in sorted((s for s in here.sources if s.day), key=lambda s: str(s.day)) if orders.oldest else ():
        found = answer(here.task, [source], here.now, context=context)
        if found.kind == "value" and found.confidence >= DOUBT:
            return found
    found = answer(here.task, here.sources, here.now, context=context)
    unwanted = found.kind == "premise" and not orders.premise
    return Answer("none") if unwanted else replace(found, kind="none") if found.confidence < DOUBT else found


def _statements(found: Answer, situation: Situation, orders: Orders) -> Said:
    chinese = orders.language == "zh"
    shown = [*merged((e.sentence, e.source) for e in reversed(found.evidence)).items()]
    if found.kind == "none":
        nothing = orders.abstain or ("现有资料没有回答这个问题" if chinese else "The sources do not answer this")
        about = found.missing[0] if found.missing else situation.task
        missing = f"：没有找到关于“{about}”的资料。" if chinese else f": nothing was found on {about.rstrip('?.')}."
        return [(nothing.rstrip(".。") + missing, []), *shown[:1]]
    sources = [found.evidence[-1].source] if found.evidence else []
    if found.kind == "premise":
        wrong = "问题的前提不成立。" if chinese else "The premise of the question does not hold."
        told_so = any(found.value.casefold() in sentence.casefold() for sentence, _ in shown)
        return [(wrong, []), *([] if told_so or not found.value else [(found.value, sources)]), *shown]
    return [(_lead(found.value, situation, chinese), sources), *shown]


def _lead(value: str, situation: Situation, chinese: bool) -> str:
    """The value as a sentence of its own, in words that the request's seed chooses."""
    if re.fullmatch(r"(?i)(yes|no)\b.*|是的?|不是|否", value):
        return value[:1].upper() + value[1:]
    forms = _LEADS["zh" if chinese else "en"]
    return forms[derive(situation.request.seed or 0, situation.task) % len(forms)].format(value)


def _composed(said: Said, orders: Orders, least: int, most: int) -> str:
    """Sentences as text or list with their references: as many as the orders want, else between the two numbers, as
    far as there are any; the last ones go where the whole would be too long, in the end the last words."""
    count = orders.sentences[1] or max(most, orders.sentences[0] or 0)
    least = min(count, max(least, orders.sentences[0] or 0))
    for number in range(1, min(count, len(said)) + 1):
        citations = Citations(orders)
        lines = [citations.said(sentence, *sources) for sentence, sources in said[:number]]
        gap = "" if is_chinese(lines[0]) else " "
        body = "\n".join(f"- {line}" for line in lines) if orders.bullets else gap.join(lines)
        sizes = ((orders.words, len(body.split())), (orders.characters, len(body)))
        if number > 1 and any(longest and size > longest for (_, longest), size in sizes):
            break
        text = _with_references(_cut(body, orders), citations)
        if number >= least and all(size >= (shortest or 0) for (shortest, _), size in sizes):
            break
    return text


def _cut(body: str, orders: Orders) -> str:
    if (most := orders.words[1]) and len(body.split()) > most:
        body = " ".join(body.split()[:most])
    if (longest := orders.characters[1]) and len(body) > longest:
        body = body[:longest].rsplit(" ", 1)[0]
    return body


def _with_references(text: str, citations: Citations) -> str:
    listed = citations.listed()
    return f"{text}\n\n{listed}" if listed else text


# findings and summaries


def _handed(situation: Situation) -> tuple[str, ...]:
    """The queries that a person or an agent handed over with the task (those of a plan that came back are not)."""
    said = "\n".join(m.text for m in situation.request.messages if m.role == "user")
    return tuple(query for query in situation.queries if query in said)


def _findings(situation: Situation, orders: Orders) -> str:
    """Sentences under the queries they speak to, each once, those with figures or further names first."""
    citations = Citations(orders)
    used: set[str] = set()
    parts = []
    for query in _handed(situation):
        fresh = [e for e in rank(query, situation.sources, situation.now, most=3 * FINDINGS) if e.sentence not in used]
        fresh = sorted(fresh, key=lambda e: not _is_definite(e.sentence, query))[:FINDINGS]
        used.update(e.sentence for e in fresh)
        nothing = "没有找到资料。" if orders.language == "zh" else "Nothing was found."
        parts.append(
            "\n".join([f"**{query}**", *(told([(e.sentence, e.source) for e in fresh], citations) or [nothing])])
        )
    return _with_references("\n\n".join(parts), citations)


def _is_definite(sentence: str, query: str) -> bool:
    """Whether a sentence gives a figure or a name that the query does not have."""
    return re.search(r"\d", sentence) is not None or any(name not in query for name in research.things(sentence))


def _summary(situation: Situation, orders: Orders) -> str:
    """The sentences that share most with the whole, in their order, within the asked length."""
    source = max(situation.sources, key=lambda s: len(s.text))
    lines = [s for s in sentences(source.text) if len(s) > 20] or [source.text]
    common, title = stems(source.text[:20_000]), stems(source.title)
    weight = {s: len(stems(s) & common) / (8 + len(stems(s))) + len(stems(s) & title) for s in lines}
    fewest, shortest = orders.sentences[0] or 0, orders.characters[0] or 0
    most, longest = orders.sentences[1] or max(ANSWER, fewest), orders.characters[1] or max(SUMMARY, 2 * shortest)
    chosen: list[str] = []
    for sentence in sorted(lines, key=lambda s: -weight[s]):
        length = sum(map(len, chosen)) + len(chosen)
        if length + len(sentence) <= longest and (len(chosen) < most or length < shortest):
            chosen.append(sentence)
    gap = "" if is_chinese(lines[0]) else " "
    return dated(gap.join(sorted(chosen, key=lines.index)) or lines[0][:longest], orders.date_form)


# in somebody's place


def _in_place(situation: Situation, orders: Orders) -> str:
    """A reply in the place of a person: from what the prompt says they want, or the words it gives for nothing to say.

    Asked something, the wish that shares most with the question answers it. Shown something, the first wish that it
    leaves out is what to change.
    """

    def labelled(pattern: str) -> list[str]:
        return [b.text for b in situation.blocks if re.search(pattern, b.label)]

    shown = labelled(r"plan|outline|draft")
    addressed = (shown or labelled(r"ask|question|message") or [situation.task])[-1]
    wishes = [s for text in labelled(r"prefer|wish|want|know|persona|profile") for s in sentences(text)]
    wishes = [wish for wish in wishes if not re.match(r"none\b|无", wish, re.IGNORECASE)]
    if shown:
        said = " ".join(labelled(r"dialog|history|conversation"))
        open_ = [w for w in wishes if w not in said and len(stems(w) & stems(addressed)) * 2 < len(stems(w))]
        change = "请补充：{}" if is_chinese("".join(open_[:1])) else "Please also cover this: {}"
        return change.format(open_[0]) if open_ else _fallback(situation, orders, "plan")
    topic = stems(addressed) - stems(" ".join(labelled(r"^(?:request|task)$")))
    best = max(wishes, key=lambda wish: len(stems(wish) & topic), default="")
    return best if stems(best) & topic else _fallback(situation, orders, "question")


def _fallback(situation: Situation, orders: Orders, kind: str) -> str:
    """The quoted words that the prompt gives for nothing to say, from the line that speaks of this kind of message."""
    lines = [line for line in situation.instructions.splitlines() if _wanted(line, orders)]
    about = [line for line in lines if re.search(rf"\b{kind}\b", line, re.IGNORECASE)] or lines
    return _wanted(about[0], orders)[-1] if about else "I have nothing to add."


def _wanted(line: str, orders: Orders) -> list[str]:
    return [quote for quote in _QUOTED.findall(line) if quote not in orders.barred]
