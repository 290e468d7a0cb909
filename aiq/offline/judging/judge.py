"""One entry for whoever asks for a judgement: what is to be judged, and the reply in the form that is asked for."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.text import is_chinese
from aiq.offline.judging.citing import cited, reference_urls, without_citations
from aiq.offline.judging.credit import credit
from aiq.offline.judging.facts import DATA
from aiq.offline.judging.quality import quality
from aiq.offline.judging.request import Case, filled, mood, read_case
from aiq.offline.judging.support import same_statement, support

IN_FRONT: Final = 0.1
"""Points out of ten that the article in front gets for its place: a bias planted so that calibration can find it."""
NOISE: Final = 0.2
"""Points out of ten by which a score strays to either side, by the judge's mood; doubled where nothing is compared."""

_LONGEST: Final = 3_000_000
_NUMBERED = re.compile(r"^\s*(\d+)[.)、:]\s*(.+)$", re.MULTILINE)
_REASON = r"analysis|reason|comment|expla|justif|rationale|feedback"
_VERDICT = r"verdict|result|label|judg|evaluation|grade|correct|support|pass|outcome|decision"
_SCORE = r"score|rating|grade|points|mark"


def judge(request: ChatRequest) -> ChatReply | None:
    """The judgement that a request asks for; None where it asks for none, or not in a form that can be told."""
    agentic = request.tools or any(message.role == "tool" for message in request.messages)
    if agentic or sum(len(message.text) for message in request.messages) > _LONGEST:
        return None
    case = read_case(request)
    shown = " ".join([*case.keys, case.wanted])
    texts = (
        attempt(case)
        for brought, asked, attempt in _JUDGEMENTS
        if case.material.keys() >= {*brought} and re.search(asked, shown, re.IGNORECASE)
    )
    return next((ChatReply(text=text) for text in texts if text is not None), None)


def _dumps(case: Case, entries: Sequence[Any]) -> str:
    """The entries as JSON: under the key of the form that holds them, else as a list, or the only one alone."""
    alone = len(entries) == 1 and not case.example.startswith("[")
    shown = {case.outer[0]: entries} if case.outer else entries[0] if alone else entries
    return json.dumps(shown, ensure_ascii=False)


def _reply(case: Case, bare: str, *values: tuple[str, Any]) -> str:
    """One entry in the form asked for: JSON, lines of labels, or the bare word."""
    entry = filled(case.keys, *values)
    if case.example:
        return json.dumps(entry, ensure_ascii=False)
    return "\n".join(f"{label}: {value}" for label, value in entry.items()) or bare


def _marks(case: Case) -> str | None:
    """A score for every criterion, of one article or of two that are compared."""
    criteria = _criteria(case.the("criteria"))
    if not criteria or not any(re.search("criteri", key) for key in case.keys):
        return None
    card: dict[str, list[Any]] = {}
    for dimension, named in criteria.items():
        for number, said in enumerate(named):
            scores, name = _scores(case, ". ".join(said), _norm(dimension), number), said[0]
            keys = [key for key in case.keys if re.search(_SCORE, key)]
            values = [(f"^{key}$", score) for key, score in zip(keys, scores, strict=False)]
            entry = filled(case.keys, *values, (_REASON, _comparison(scores, name)), ("", name))
            card.setdefault(dimension, []).append(entry)
    return json.dumps(card.get("", card), ensure_ascii=False)


def _criteria(text: str) -> dict[str, list[list[str]]]:
    """The criteria by dimension, "" where none is named: of each all that is said of it, its name first."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = re.findall(r"^[-*•\s]*(\S.*)", text, re.MULTILINE)
    by_name = value if isinstance(value, dict) else {"": value}
    return {
        name: [[str(told) for told in (item.values() if isinstance(item, dict) else [item])] for item in items if item]
        for name, items in by_name.items()
        if isinstance(items, list)
    }


def _norm(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def _scores(case: Case, criterion: str, dimension: str, number: int) -> list[float]:
    """The scores of all articles on one criterion, on the scale asked for, with mood and the place in front."""
    articles = (case.material.get("article") or case.material["response"])[:2]
    drawn, (low, high) = mood(case.request, "judging", dimension, number), case.scale
    noise = NOISE * (1 if len(articles) > 1 else 2)
    found = []
    for place, article in enumerate(articles):
        others = [*articles[:place], *articles[place + 1 :]]
        met = quality(article, criterion, case.the("task"), others, dimension)
        lean = drawn.uniform(-noise, noise) + (IN_FRONT if others and not place else 0)
        score = low + (high - low) * (met + lean / 10 if met else 0.0)
        found.append(round(min(high, max(low, score)), 1 if high - low >= 5 else 2))
    return found


def _comparison(scores: Sequence[float], name: str) -> str:
    """One sentence on how the articles do."""
    told = " : ".join(f"{score:g}" for score in scores)
    return f"就“{name}”而言：{told}。" if is_chinese(name) else f"On '{name}' the marks are {told}."


def _whole(case: Case) -> str | None:
    """One score or verdict on an article or response as a whole."""
    if not (case.the("article") or case.the("response")):
        return None
    (low, high), scores = case.scale, _scores(case, case.the("criteria"), "", 0)
    score = int(scores[0]) if scores[0] == int(scores[0]) else scores[0]
    verdict = _option(case, score >= (low + high) / 2)
    bare = verdict if case.asks(r"\bpass\b.{0,20}\bfail\b") else str(score)
    return _reply(
        case, bare, (_SCORE, score), (_REASON, _comparison(scores, case.the("task")[:60])), (_VERDICT, verdict)
    )


def _verdicts(case: Case) -> str:
    """Supported or not, for every numbered statement about a page."""
    in_part = case.asks(r"some or all|(?:entirely|fully|wholly) or part|部分|in part")
    entries = []
    for number, statement in _NUMBERED.findall(case.the("statements")) or [("1", case.the("statements"))]:
        found = support(statement, case.the("page"), in_part=in_part)
        word = found if case.asks(rf"\b{found}\b") else "unsupported"
        entries.append(filled(case.keys, (_VERDICT, word), (_REASON, f"By the page it is {found}."), ("", int(number))))
    return _dumps(case, entries)


def _groups(case: Case) -> str:
    """Which of several numbered statements say the same: as groups, or as those that stay."""
    groups: list[tuple[str, list[int]]] = []
    for number, statement in _NUMBERED.findall(case.the("statements")):
        like = [members for first, members in groups if same_statement(first, statement)]
        if like:
            like[0].append(int(number))
        else:
            groups.append((statement, [int(number)]))
    return _dumps(case, [members if case.outer else members[0] for _, members in groups])


def _graded(case: Case) -> str:
    """Whether a response gives an accepted answer, in the words, letters or lines that the prompt asks for."""
    forms = re.split(r"\s+\|\s+|\n(?:[-*]\s*)?", case.the("accepted"))
    found = credit(
        case.the("task"), case.the("response"), forms, strict=case.asks(r"as well, as far|every further statement")
    )
    verdict = _option(case, found.agrees if found.answers else None)
    boolean = re.search(r":\s*(?:true|false)", case.example) is not None
    said = _REASON, " ".join(found.reason.split())
    bare = f"GRADE: {verdict}" if case.asks("GRADE:") else verdict
    return _reply(case, bare, said, (_VERDICT, found.agrees if boolean else verdict), ("", case.the("response")[:200]))


def _option(case: Case, right: bool | None) -> str:
    """The verdict by the option that the prompt offers for right, wrong or (None) no answer: a letter, or a word."""
    letters = re.findall(
        r"\b([A-Z])(?:[:.)]|[\"'] for)\s*[\"']?(correct|incorrect|not_attempted)", case.wanted, re.IGNORECASE
    )
    offered = {name.lower(): letter for letter, name in letters}
    if offered:
        state = {True: "correct", False: "incorrect", None: "not_attempted"}[right]
        return str(offered.get(state, offered["incorrect"]))
    pairs = (("yes", "no"), ("PASS", "FAIL"), ("pass", "fail"), ("true", "false"), ("correct", "incorrect"))
    return next(
        (p[not right] for p in pairs if re.search(rf"\b{p[0]}\b.{{1,60}}\b{p[1]}\b", case.wanted)), pairs[-1][not right]
    )


def _citations(case: Case) -> str:
    """Every statement of a report that cites a URL, under the names of the form."""
    numbered = re.search(r'"ref\w*":\s*\d', case.example)  # else 0 stands for no reference
    entries = [
        filled(
            case.keys,
            ("url|link", c.url),
            ("statement|fact|claim", c.statement),
            ("", c.reference if numbered else c.reference or 0),
        )
        for c in cited(case.the("article"), reference_urls(case.the("listed") or case.the("article")))
    ]
    return _dumps(case, entries)


def _weights(case: Case) -> str | None:
    """Weights of the four dimensions for a task: nearly equal, more for those that its words speak of."""
    drawn = mood(case.request, "weighing")
    words = [DATA["dimensions"].get(_norm(key), {}).get("words") or "(?!)" for key in case.keys]
    raw = [drawn.uniform(0.9, 1.1) + 0.3 * bool(re.search(word, case.the("task"), re.IGNORECASE)) for word in words]
    shares = {key: round(weight / sum(raw), 2) for key, weight in zip(case.keys, raw, strict=True)}
    return json.dumps(shares) if set(map(_norm, case.keys)) == set(DATA["dimensions"]) else None


def _new_criteria(case: Case) -> str:
    """Criteria of a dimension for a task, one for each of its first parts, with their weights."""
    told = re.findall(r"\w[\w -]{3,60}", case.the("task"))[:4]
    rows = DATA["dimensions"]
    wanted = re.sub(r"\*\*\w[\w -]*:\*\*", "", case.wanted).lower()  # without the list that defines all four
    named = f"{wanted} {case.the('dimension').replace('_', ' ') * 99}"
    row = max(rows.items(), key=lambda row: named.count(row[0].replace("_", " ")) + named.count(row[1]["chinese"]))[1]
    names = [f"{row['criterion'][is_chinese(part)]}{part}" for part in told]
    entries = [filled(case.keys, ("weight", round(1 / len(names), 4)), ("", name)) for name in names]
    return json.dumps(entries, ensure_ascii=False)


def _cleaned(case: Case) -> str | None:
    """The article without its citations, where the prompt asks for the article back."""
    return None if case.example else without_citations(case.the("article"))


_JUDGEMENTS: tuple[tuple[tuple[str, ...], str, Callable[[Case], str | None]], ...] = (
    (("task", "criteria", "article"), r"scor|评分|打分", _marks),
    (("page", "statements"), "support", _verdicts),
    (("statements",), "duplicat|exactly the same|去重", _groups),
    (("task", "response", "accepted"), "", _graded),
    (("article",), r"^(?=.*\burl\b)(?=.*\b(?:statement|fact|claim)\b)", _citations),
    (("article",), r"citation|引用", _cleaned),
    (("task",), r"\b(?:score|rate|grade)\b|评分|打分", _whole),
    (("task",), "weight|权重", _weights),
    (("task",), r"^(?=.*\bcriterion\b)(?=.*\bweight\b)", _new_criteria),
)
"""What a request must bring, what its form or instructions must have, and who then judges; the first that fits does."""
