"""Writes texts: a short answer, findings, a summary, a reply on someone's behalf, small talk; reports are in `report`.

Every statement is a sentence from the material with its citation, or says what was not found.
"""

import re
from dataclasses import replace

from aiq.core.seeds import derive
from aiq.offline.engine import research
from aiq.offline.engine.answer import Answer, answer, rank
from aiq.offline.engine.cite import Citations, Facts, dated, facts
from aiq.offline.engine.clauses import clauses, limits
from aiq.offline.engine.collected import Collected, titled
from aiq.offline.engine.evidence import Evidence, is_statement
from aiq.offline.engine.follow import Orders
from aiq.offline.engine.lookup import SURE
from aiq.offline.engine.read import Situation
from aiq.offline.engine.report import CLUTTER, report
from aiq.offline.engine.text import is_chinese, names, sentences, stems
from aiq.offline.engine.tools import kind_of, understand

FINDINGS = 12
"""The most sentences in the findings of a query."""
ALL = 42
"""The most sentences in a reply that must tell everything found."""
ANSWER = 3
"""Sentences in an answer, and points in a list, if the prompt does not say how many."""
SUMMARY = 400
"""Characters in a summary, if the prompt does not say how many."""
DOUBT = 0.1
"""If the reader's confidence is lower, the reply says that the evidence is insufficient."""
_LEADS = {
    "en": ("The answer is {}", "It is {}", "According to the sources, it is {}", "The sources say: {}"),
    "zh": ("答案是{}", "是{}", "根据资料，是{}"),
}
_PHRASES = {
    "en": (
        "The sources do not answer this",
        "{}: nothing was found on {}.",
        "The premise of the question does not hold.",
    ),
    "zh": ("现有资料没有回答这个问题", "{}：没有找到关于“{}”的资料。", "问题的前提不成立。"),
}
_LISTS = re.compile(
    r"\b(?:list|extract|collect|identify|pull out)\b[^.\n]{0,40}\b(?:statements?|claims?|assertions?)\b"
    r"[^.\n]{0,40}\b(?:report|text|article|answer|document|passage)\b|(?:列出|提取).{0,20}(?:陈述|论断|主张)",
    re.IGNORECASE,
)
_SUMS_UP = re.compile(r"\b(?:summar(?:y|i[sz]e)|tl;?dr)\b|总结|概括|摘要|\bwhat the \w+ is\b", re.IGNORECASE)
_IN_PLACE = re.compile(
    r"\b(?:play|act as|pretend to be|reply as|in the place of)\b(?: \w+){0,3} (?:person|user|customer|someone)\b"
    r"(?=\W*$|[.,;:]| (?:who|whose|that|with|in|of|to|asking|behind)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_MARK = re.compile(r"\s*\[\d+\]")
_QUOTE = re.compile(r"[`\"“']([^`\"”'\n]{1,60})[`\"”']")


def write(situation: Situation, orders: Orders) -> str:
    """The text of the reply: what the material supports, in the requested form; never empty."""
    if _IN_PLACE.search(situation.instructions):
        return _in_place(situation, orders)
    if research.is_small_talk(situation.task):
        return small_talk(situation.task)
    prompt = "\n".join([situation.instructions, *(b.label for b in situation.blocks if " " in b.label)])
    for section in orders.sections:  # a section of a report may have such a name
        prompt = prompt.replace(section, " ")
    if _SUMS_UP.search(prompt) and situation.sources and not (situation.steps or situation.headings):
        return _summary(situation, orders)
    if _LISTS.search(prompt) and situation.sources and not situation.steps:
        return _statements_of(situation, orders)
    if reply := _collection_answer(situation, orders):
        return reply
    wants_answer = research.is_question(situation.task) or not situation.sources
    if not wants_answer and orders.every:
        return _everything(situation, orders)
    if _handed_queries(situation) and situation.sources and not orders.every:
        return _findings(situation, orders)
    return _supported_answer(situation, orders) if wants_answer else report(situation, orders)


def small_talk(text: str) -> str:
    """A friendly reply to a message that asks nothing about the world."""
    if research.THANKS.search(text):
        return "不客气！" if is_chinese(text) else "You are welcome!"
    if is_chinese(text):
        return "你好！我可以查找资料，回答问题并注明来源，也可以撰写研究报告。"
    return "Hello! I answer questions with cited sources and write research reports. What would you like to know?"


# answers


def _collection_answer(situation: Situation, orders: Orders) -> str:
    """What a collection says about a task that asks for numbers from it or for all documents of a kind; empty if the
    task asks nothing of a collection, or nothing is known."""
    docs = Collected(situation, map(understand, situation.request.tools))
    citations = Citations(orders)
    if docs.applies and docs.counts_text:
        return _lead(docs.counts_text, situation, orders) + "."
    refs = {e.source.title if e.source.title and not docs.wanted.textual else titled(e): e.source for e in docs.matches}
    is_list = docs.applies and docs.wanted.members
    lines = [citations.with_marks(text, [source]) for text, source in refs.items()] if is_list else []
    return citations.complete("\n".join(f"- {line}" for line in lines))


def _supported_answer(situation: Situation, orders: Orders) -> str:
    """The answer, then the sentences that support it, then what else is known if more is wanted; just the bare value
    if that is wanted, or there is no room for a sentence."""
    found = _best_answer(situation, orders)
    body = _answer_facts(found, situation, orders)
    limit = orders.words[1]
    if found.kind == "value" and (orders.bare or (limit and len(next(iter(body)).split()) > limit)):
        return dated(found.value, orders.date_form)
    wants_more = found.kind != "none" or orders.every
    extra = rank(situation.task, situation.sources, situation.now, most=20) if wants_more else ()
    usual = ANSWER if orders.bullets else min(len(body), ANSWER + (found.kind == "premise"))
    usual += FINDINGS * orders.every
    return _compose(body | {s: sources for s, sources in facts(extra).items() if s not in body}, orders, usual)


def _best_answer(situation: Situation, orders: Orders) -> Answer:
    """What the reader finds; if the oldest evidence counts, in the oldest dated source that answers. If results of
    others' work give another answer, the most frequent one counts, as they had seen more."""
    by_age = sorted((s for s in situation.sources if s.day and orders.oldest), key=lambda s: str(s.day))
    found = Answer("none")
    for sources in [*([source] for source in by_age), situation.sources]:
        found = answer(situation.task, sources, situation.now)
        if found.kind == "value" and found.confidence >= DOUBT:
            break
    if situation.answers and found.value not in [reply.text for reply in situation.answers]:
        kind, value = max(situation.answers, key=situation.answers.count)
        ranked = rank(f"{situation.task} {value}", situation.sources, situation.now)
        found = Answer(kind, value, tuple(e for e in ranked if value in e.sentence)[:2], (), SURE)
    unwanted = found.kind == "premise" and not orders.premise
    refusal = replace(found, kind="none", evidence=() if unwanted else found.evidence)
    return refusal if unwanted or found.confidence < DOUBT else found


def _answer_facts(found: Answer, situation: Situation, orders: Orders) -> Facts:
    nothing, missing, wrong = _PHRASES[orders.language]
    support = facts(reversed(found.evidence))
    sources = [evidence.source for evidence in found.evidence[-1:]]
    if found.kind == "none":
        topic = (*found.missing, situation.task)[0].rstrip("?.？。")
        message = missing.format((orders.abstain or nothing).rstrip(".。"), topic)
        return {message: [], **dict([*support.items()][:1])}
    if found.kind == "premise":
        is_repeated = any(found.value.casefold() in sentence.casefold() for sentence in support)
        return {wrong: [], **({} if is_repeated else {found.value: sources}), **support}
    return {_lead(found.value, situation, orders): sources, **support}


def _lead(value: str, situation: Situation, orders: Orders) -> str:
    """The value as a sentence of its own, with wording chosen by the request's seed."""
    forms = ("{}",) if re.fullmatch(r"(?i)(yes|no)\b.*|是的?|不是|否", value) else _LEADS[orders.language]
    sentence = forms[derive(situation.request.seed or 0, situation.task) % len(forms)].format(value)
    return sentence[:1].upper() + sentence[1:]


def _compose(statements: Facts, orders: Orders, usual: int) -> str:
    """The first sentences with their references: as many as the orders want, else the usual number, if there are that
    many. If the whole is too long, the last sentences are dropped, and as a last resort the last words."""
    usual = min(max(usual, orders.sentences[0] or 0), orders.sentences[1] or len(statements))
    text = ""
    for number in range(1, len(statements) + 1):
        citations = Citations(orders)
        body = citations.text(dict([*statements.items()][:number]))
        sizes = ((orders.words, len(body.split())), (orders.characters, len(body)))
        if any(longest and size > longest for (_, longest), size in sizes):
            return text or citations.complete(" ".join(body.split()[: orders.words[1]])[: orders.characters[1]])
        text = citations.complete(body)
        if number >= usual and all(size >= (shortest or 0) for (shortest, _), size in sizes):
            break
    return text


# findings and summaries


def _handed_queries(situation: Situation) -> tuple[str, ...]:
    """The queries that the user or an agent handed over with the task (not those of a plan that came back)."""
    prompt = "\n".join(m.text for m in situation.request.messages if m.role == "user")
    return tuple(query for query in situation.queries if query in prompt)


def _findings(situation: Situation, orders: Orders) -> str:
    """Sentences under the queries they are relevant to, each once, those with figures or new names first."""
    citations = Citations(orders)
    used: set[str] = set()
    parts = []
    for query in _handed_queries(situation):
        ranked = rank(query, situation.sources, situation.now, most=3 * FINDINGS)
        fresh = [evidence for evidence in ranked if evidence.sentence not in used]
        fresh = sorted(fresh, key=lambda e: not research.is_informative(e.sentence, query))[:FINDINGS]
        used.update(evidence.sentence for evidence in fresh)
        nothing = "没有找到资料。" if orders.language == "zh" else "Nothing was found."
        parts.append("\n".join([f"**{query}**", *(citations.lines(facts(fresh)) or [nothing])]))
    return citations.complete("\n\n".join(parts))


def _everything(situation: Situation, orders: Orders) -> str:
    """What each search found, or else what there is on the task: the sentences with figures or new names, each once,
    grouped by page with one citation at the end."""
    searches = [step.arguments.values() for step in situation.steps if kind_of(step.tool) == "search"]
    queries = [query for values in searches for query in values if isinstance(query, str)] or [situation.task]
    pages: dict[str, Facts] = {}
    for query in queries:
        ranked = rank(query, situation.sources, situation.now, most=3 * FINDINGS)
        clean = facts(e for e in ranked if not CLUTTER.search(e.sentence))
        informative = {s: sources[:1] for s, sources in clean.items() if research.is_informative(s, situation.task)}
        new_sentences = [s for s, (source,) in informative.items() if s not in pages.get(source.key, ())]
        for sentence in new_sentences[: max(3, ALL // len(queries))]:
            pages.setdefault(informative[sentence][0].key, {})[sentence] = informative[sentence]
    citations = Citations(orders)
    lines = [citations.with_marks(" ".join(page), next(iter(page.values()))) for page in pages.values()]
    return citations.complete("\n".join(lines)) or _supported_answer(situation, orders)


def _statements_of(situation: Situation, orders: Orders) -> str:
    """The statements in the given text, one per line, those with figures and names first."""
    source = max(situation.sources, key=lambda s: len(s.text))
    lines = facts(Evidence(s, source, 0.0) for s in sentences(source.text) if is_statement(s) and not CLUTTER.search(s))
    maxima = [limits(clause, "statements?|claims?|facts?|assertions?")[1] for clause in clauses(situation.instructions)]
    cited = {_MARK.sub("", s) for s in sentences(source.text) if _MARK.search(s)}
    scores = {s: 2 * (s in cited) + len(names(s)[:2]) + bool(re.search(r"\d", s)) for s in lines}
    best = sorted(lines, key=lambda s: -scores[s])[: next(filter(None, maxima), ALL)]
    numbered = re.search(r"(?i)number(?:ed)?\b|编号", situation.instructions)
    return "\n".join(f"{n}. {statement}" if numbered else f"- {statement}" for n, statement in enumerate(best, 1))


def _summary(situation: Situation, orders: Orders) -> str:
    """The sentences that share most with the whole text, within the requested length."""
    source = max(situation.sources, key=lambda s: len(s.text))
    lines = [s for s in sentences(source.text) if len(s) > 20] or [source.text]
    text_stems, title_stems = stems(source.text[:20_000]), stems(source.title)
    weights = {s: len(stems(s) & text_stems) / (8 + len(stems(s))) + len(stems(s) & title_stems) for s in lines}
    shortest, longest = orders.characters
    limited = replace(orders, cite="none", characters=(shortest, longest or max(SUMMARY, 2 * (shortest or 0))))
    text = _compose({s: [] for s in sorted(lines, key=lambda s: -weights[s])}, limited, ANSWER)
    kept: Facts = {s: [] for s in lines if s in text}  # in the order of the text
    return _compose(kept, limited, len(kept)) if kept else text


# on someone's behalf


def _in_place(situation: Situation, orders: Orders) -> str:
    """A reply on behalf of a person: from what the prompt says they want, or its words for having nothing to say.

    If asked something, the answer is the wish that shares most with the question. If shown something, it asks for the
    first wish that was left out.
    """

    def labelled(pattern: str) -> list[str]:
        return [b.text for b in situation.blocks if re.search(pattern, b.label)]

    plans = labelled(r"plan|outline|draft")
    message_stems = stems((plans or labelled(r"ask|question|message") or [situation.task])[-1])
    statements = [s for text in labelled(r"prefer|wish|want|know|persona|profile") for s in sentences(text)]
    wishes = [wish for wish in statements if not re.match(r"none\b|无", wish, re.IGNORECASE)]
    if plans:
        dialogue = " ".join(labelled(r"dialog|history|conversation"))
        unmet = [w for w in wishes if w not in dialogue and len(stems(w) & message_stems) * 2 < len(stems(w))]
        template = "请补充：{}" if is_chinese("".join(unmet[:1])) else "Please also cover this: {}"
        return template.format(unmet[0]) if unmet else _fallback(situation, orders, "plan")
    topic = message_stems - stems(" ".join(labelled(r"^(?:request|task)$")))
    best = max(wishes, key=lambda wish: len(stems(wish) & topic), default="")
    return best if stems(best) & topic else _fallback(situation, orders, "question")


def _fallback(situation: Situation, orders: Orders, kind: str) -> str:
    """The quoted words that the prompt gives for having nothing to say, from the line about this kind of message."""
    lines = sorted(situation.instructions.splitlines(), key=lambda line: kind not in line.lower())
    line_quotes = [[quote for quote in _QUOTE.findall(line) if quote not in orders.barred] for line in lines]
    return next((quotes[-1] for quotes in line_quotes if quotes), "I have nothing to add.")
