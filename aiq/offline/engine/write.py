"""Writing: a short answer, findings, a summary, a reply in somebody's place, small talk; a report is in `report`.

Every statement is a sentence of the material with its citation, or says what was not found.
"""

import re
from collections.abc import Sequence

from aiq.core.seeds import derive
from aiq.offline.engine import research
from aiq.offline.engine.answer import Answer, answer, rank
from aiq.offline.engine.cite import Citations, standalone, told
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.read import Block, Situation, Source
from aiq.offline.engine.report import report
from aiq.offline.engine.text import is_chinese, sentences, stems

FINDINGS = 12
"""Sentences that a query's findings hold at most."""
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
_SUMMARY = re.compile(r"\bsummar(?:y|i[sz]e)\b|总结|概括|摘要", re.IGNORECASE)
_IN_PLACE = re.compile(
    r"\b(?:play|act as|pretend to be|reply as|in the place of)\b[^.\n]*\b(?:person|user|customer)", re.IGNORECASE
)
_QUOTED = re.compile(r"[`\"“']([^`\"”'\n]{1,60})[`\"”']")


def write(situation: Situation, orders: Orders) -> str:
    """The reply's text: what the material supports, in the asked form; never empty."""
    if _IN_PLACE.search(situation.instructions):
        return _in_place(situation)
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


def _answered(situation: Situation, orders: Orders) -> str:
    """The answer first, then the sentences that show it, then the references."""
    history = "\n".join(text for _, text in situation.history)
    found = answer(situation.task, situation.sources, situation.now, context=history)
    if orders.bare and found.kind == "value":
        return found.value
    citations = Citations(orders)
    lines = _statements(found, situation, orders, citations)
    most = orders.sentences[1] or 3 + (found.kind == "premise")
    text = ("" if orders.language == "zh" else " ").join(lines[:most])
    return _within(_with_references(text, citations), orders)


def _statements(found: Answer, situation: Situation, orders: Orders, citations: Citations) -> list[str]:
    chinese = orders.language == "zh"
    shown = [(standalone(e.sentence, e.source), e.source) for e in reversed(found.evidence)]
    if found.kind == "none" or found.confidence < DOUBT:
        nothing = orders.abstain or ("现有资料不足以回答这个问题" if chinese else "I don't have enough information")
        about = found.missing[0] if found.missing else situation.task
        missing = f"：没有找到关于“{about}”的资料。" if chinese else f": nothing was found on {about.rstrip('?.')}."
        return [nothing.rstrip(".。") + missing, *told(shown[:1], citations)]
    sources = [found.evidence[-1].source] if found.evidence else []
    if found.kind == "premise":
        wrong = "问题的前提不成立。" if chinese else "The premise of the question does not hold."
        value = [citations.said(found.value, *sources)] if found.value else []
        return [wrong, *([] if _says(shown, found.value) else value), *told(shown, citations)]
    lead = _lead(found.value, situation, chinese)
    return [citations.said(lead, *sources), *told(shown, citations)]


def _lead(value: str, situation: Situation, chinese: bool) -> str:
    """The value as a sentence of its own, in words that the request's seed chooses."""
    if re.fullmatch(r"(?i)(yes|no)\b.*|是的?|不是|否", value):
        return value[:1].upper() + value[1:]
    forms = _LEADS["zh" if chinese else "en"]
    return forms[derive(situation.request.seed or 0, situation.task) % len(forms)].format(value)


def _says(shown: Sequence[tuple[str, Source]], value: str) -> bool:
    return any(value.casefold() in sentence.casefold() for sentence, _ in shown)


def _handed(situation: Situation) -> tuple[str, ...]:
    """The queries that a person or an agent handed over with the task (those of a plan that came back are not)."""
    said = "\n".join(m.text for m in situation.request.messages if m.role == "user")
    return tuple(query for query in situation.queries if query in said)


def _findings(situation: Situation, orders: Orders) -> str:
    """Sentences under the queries they speak to, each once, newest evidence first where several say the same."""
    citations = Citations(orders)
    used: set[str] = set()
    parts = []
    for query in _handed(situation):
        fresh = [e for e in rank(query, situation.sources, situation.now, most=3 * FINDINGS) if e.sentence not in used]
        fresh = sorted(fresh, key=lambda e: not _is_definite(e.sentence, query))[:FINDINGS]
        used.update(e.sentence for e in fresh)
        nothing = "没有找到资料。" if orders.language == "zh" else "Nothing was found."
        lines = told([(e.sentence, e.source) for e in fresh], citations) or [nothing]
        parts.append("\n".join([f"**{query}**", *lines]))
    return _with_references("\n\n".join(parts), citations)


def _is_definite(sentence: str, query: str) -> bool:
    """Whether a sentence gives a figure or a name that the query does not have."""
    return re.search(r"\d", sentence) is not None or any(name not in query for name in research.things(sentence))


def _summary(situation: Situation, orders: Orders) -> str:
    """The title and the sentences that share most with the whole, in their order, within the asked length."""
    source = max(situation.sources, key=lambda s: len(s.text))
    told_ = [s for s in sentences(source.text) if len(s) > 20]
    common = stems(source.text[:20_000])
    title = stems(source.title)
    weight = {s: len(stems(s) & common) / (8 + len(stems(s))) + len(stems(s) & title) for s in told_}
    limit = orders.characters[1] or 400
    chosen = [f"{source.title}."] if source.title and len(source.title) < limit // 2 else []
    for sentence in sorted(told_, key=lambda s: -weight[s]):
        if sum(map(len, chosen)) + len(sentence) + len(chosen) <= limit:
            chosen.append(sentence)
        if len(chosen) >= (orders.sentences[1] or 4):
            break
    gap = "" if orders.language == "zh" else " "
    return (
        gap.join(sorted(chosen, key=lambda s: told_.index(s) if s in told_ else -1))
        or (told_ or [source.text])[0][:limit]
    )


def _in_place(situation: Situation) -> str:
    """A reply in the place of a person: from what the prompt says they want, or the words it gives for nothing to say.

    Asked something, the wish that shares most with the question answers it. Shown something, the first wish that it
    leaves out is what to change.
    """
    wishes, addressed = _wishes(situation)
    said = " ".join(b.text for b in situation.blocks if re.search(r"dialog|history|conversation", b.label))
    shown = addressed is not None and re.search(r"plan|outline|draft", addressed.label)
    text = addressed.text if addressed else situation.task
    fallback = _fallback(situation.instructions, "plan" if shown else "question")
    if shown:
        open_ = [w for w in wishes if w not in said and len(stems(w) & stems(text)) * 2 < len(stems(w))]
        return (
            (f"请补充：{open_[0]}" if is_chinese(open_[0]) else f"Please also cover this: {open_[0]}")
            if open_
            else fallback
        )
    request = " ".join(b.text for b in situation.blocks if b.label in ("request", "task"))
    topic = stems(text) - stems(request)
    best = max(wishes, key=lambda wish: len(stems(wish) & topic), default="")
    return best if stems(best) & topic else fallback


def _wishes(situation: Situation) -> tuple[list[str], Block | None]:
    wanted = [b for b in situation.blocks if re.search(r"prefer|wish|want|know|persona|profile", b.label)]
    addressed = [b for b in situation.blocks if re.search(r"ask|question|plan|outline|draft|message", b.label)]
    wishes = [s for b in wanted for s in sentences(b.text) if not re.match(r"none\b|无", s, re.IGNORECASE)]
    return wishes, addressed[-1] if addressed else None


def _fallback(instructions: str, kind: str) -> str:
    """The quoted words that the prompt gives for nothing to say, from the line that speaks of this kind of message."""
    lines = [line for line in instructions.splitlines() if _QUOTED.search(line)]
    about = [line for line in lines if re.search(rf"\b{kind}\b", line, re.IGNORECASE)] or lines
    return _QUOTED.findall(about[0])[-1] if about else "I have nothing to add."


def _with_references(text: str, citations: Citations) -> str:
    listed = citations.listed()
    return f"{text}\n\n{listed}" if listed else text


def _within(text: str, orders: Orders) -> str:
    """The text cut at the end of a word where the prompt limits words or characters; references stay whole."""
    body, gap, references = text.partition("\n\n")
    if (most := orders.words[1]) and len(body.split()) > most:
        body = " ".join(body.split()[:most])
    if (longest := orders.characters[1]) and len(body) > longest:
        body = body[:longest].rsplit(" ", 1)[0]
    return body + gap + references
