"""One entry for whoever asks for a judgement: what is to be judged, and the reply in the form that is asked for."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.text import is_chinese, words
from aiq.offline.judging.citing import cited, reference_urls, without_citations
from aiq.offline.judging.clauses import DATA
from aiq.offline.judging.credit import credit
from aiq.offline.judging.quality import named_things, quality
from aiq.offline.judging.request import Case, mood, read_case
from aiq.offline.judging.support import same_statement, support

IN_FRONT: Final = 0.1
"""Points out of ten that the article in front gets for its place: a bias planted so that calibration can find it."""
NOISE: Final = 0.2
"""Points out of ten by which a score strays to either side, by the judge's mood; doubled where nothing is compared."""

_LONGEST: Final = 3_000_000
_CUE = re.compile(
    r"judg|evaluat|scor|grad(?:e|ing)|rat(?:e|ing)\b|assess|criteri|verdict|support|citation|cite|duplicate|weight|compare"
    r"|statements|correct|评|打分|引用|去重|支持|判断|权重|标准",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^\s*(\d+)[.)、:]\s*(.+)$", re.MULTILINE)
_REASON = r"analysis|reason|comment|expla|justif|rationale|feedback|分析|理由|评语"
_VERDICT = r"verdict|result|label|judg|evaluation|grade|correct|support|pass|outcome|decision"
_SCORE = r"score|rating|grade|points|mark|分"
_CLEANING = (
    r"\b(?:without|remov\w+|take out|strip\w*|clean\w*)\b.{0,400}(?:citation|reference)"
    r"|(?:去除|去掉|移除|清洗).{0,200}引用"
)
_WHOLE = r"\b(?:score|rate|rating|grade|judge|evaluate|assess|which (?:is|of))\b|评分|打分|评价|评估"


def judge(request: ChatRequest) -> ChatReply | None:
    """The judgement that a request asks for; None where it asks for none, or not in a form that can be told."""
    texts = [message.text for message in request.messages]
    if request.tools or any(message.role == "tool" for message in request.messages):
        return None
    if sum(map(len, texts)) > _LONGEST or not any(_CUE.search(text) for text in texts):
        return None
    case = read_case(request)
    replies = (attempt(case) for attempt in _KINDS)
    return next((ChatReply(text=text) for text in replies if text is not None), None)


def _filled(keys: Iterable[str], *values: tuple[str, Any]) -> dict[str, Any]:
    """An entry with the keys of the form; of several values the first whose pattern the key has."""
    found = {key: [value for pattern, value in values if re.search(pattern, key, re.IGNORECASE)] for key in keys}
    return {key: fitting[0] for key, fitting in found.items() if fitting}


def _listed(case: Case, entries: Sequence[Any]) -> str:
    """The entries as JSON: under the key of the form that holds them, as a list, or the only one alone."""
    if case.form.outer:
        return _dumps({case.form.outer[0]: entries})
    return _dumps(entries if case.form.array or len(entries) != 1 else entries[0])


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _score_card(case: Case) -> str | None:
    """A score for every criterion, of one article or of two that are compared."""
    articles, form, criteria = case.material.get("article", ())[:2], case.form, _criteria(case.the("criteria") or "")
    keys = [key for key in form.keys if re.search(_SCORE, key, re.IGNORECASE)]
    alone = not (form.array or form.outer or form.key(r"criteri|标准"))  # one score for all criteria
    if not articles or not criteria or len(keys) < len(articles) or ("" in criteria and alone):
        return None
    named = [] if form.open else [_norm(name) for name in form.outer]
    card: dict[str, list[Any]] = {}
    for dimension in [name for name in criteria if not named or _norm(name) in named] or criteria:
        card[dimension] = []
        for number, criterion in enumerate(criteria[dimension]):
            scores = _scores(case, articles, ". ".join(criterion.values()), dimension, number)
            said = _comparison(scores, criterion["criterion"], case.scale[1])
            marks = list(zip(keys, scores * len(keys), strict=False))
            values = [*((f"^{re.escape(key)}$", score) for key, score in marks), (_REASON, said)]
            card[dimension].append(_filled(form.keys, *values, ("", criterion["criterion"])))
    return _listed(case, card[""]) if "" in card else _dumps(card)


def _norm(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def _scores(case: Case, articles: Sequence[str], criterion: str, dimension: str, number: int) -> list[float]:
    """The scores of all articles on one criterion, on the scale asked for, with mood and the place in front."""
    task, about = case.the("task") or case.the("question") or "", case.the("criteria") or ""
    drawn, (low, high) = mood(case.request, "judging", dimension, number), case.scale
    noise = NOISE * (1 if len(articles) > 1 else 2)
    found = []
    for place, article in enumerate(articles):
        others = [*articles[:place], *articles[place + 1 :]]
        met = quality(article, criterion, task, others, _norm(dimension), about)
        lean = drawn.uniform(-noise, noise) + (IN_FRONT if others and not place else 0)
        score = low + (high - low) * (met + lean / 10 if met else 0.0)
        found.append(round(min(high, max(low, score)), 1 if high - low >= 5 else 2))
    return found


def _comparison(scores: Sequence[float], name: str, high: float) -> str:
    """One sentence on how the articles do."""
    if len(scores) == 1:
        part = "most" if scores[0] > 0.6 * high else "some" if scores[0] > 0.3 * high else "little"
        return (
            f"就“{name}”而言，报告得{scores[0]}分。"
            if is_chinese(name)
            else f"On '{name}' the report meets {part} of it."
        )
    better = 0 if abs(scores[0] - scores[1]) < 0.05 * high else 1 if scores[0] > scores[1] else 2
    if is_chinese(name):
        return f"就“{name}”而言，{('两篇水平相近', '文章一更好', '文章二更好')[better]}。"
    return f"On '{name}', {('both do about equally well', 'article 1 does better', 'article 2 does better')[better]}."


def _criteria(text: str) -> dict[str, list[dict[str, str]]]:
    """The criteria by dimension, from JSON, from JSON lists under headings, or from lines; "" where none is named."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return {name: [_criterion(item) for item in items] for name, items in value.items() if isinstance(items, list)}
    if isinstance(value, list):
        return {"": [_criterion(item) for item in value]}
    if headed := re.findall(r"^#+\s*(?:.*?[（(])?([\w ]+?)[)）]?\s*\n(\[.*?^\])", text, re.MULTILINE | re.DOTALL):
        return {_norm(name): _criteria(body).get("", []) for name, body in headed}
    lines = [re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", line).strip() for line in text.splitlines()]
    return {"": [{"criterion": line} for line in lines if words(line)]} if any(map(words, lines)) else {}


def _criterion(item: Any) -> dict[str, str]:
    known = {str(key): text for key, text in item.items() if isinstance(text, str)} if isinstance(item, dict) else {}
    return {"criterion": next(iter(known.values()), str(item)), **known}


def _verdicts(case: Case) -> str | None:
    """Supported or not, for every numbered statement about a page."""
    page, shown = case.the("page"), case.the("statements")
    if page is None or shown is None or case.form.key(_VERDICT) is None:
        return None
    in_part = case.asks(r"some or all|(?:entirely|fully|wholly) or part|部分|in part")
    entries = []
    for number, statement in _NUMBERED.findall(shown) or [("1", shown)]:
        found: str = support(statement, page, in_part=in_part)
        found = found if found != "unknown" or case.asks("unknown") else "unsupported"
        word = found if found != "unsupported" or case.asks(r"\bunsupported\b") else "not_supported"
        values = (_VERDICT, word), (_REASON, f"By the page it is {found}."), ("", int(number))
        entries.append(_filled(case.form.keys, *values))
    return _listed(case, entries)


def _groups(case: Case) -> str | None:
    """Which of several numbered statements say the same: as groups, or as those that stay."""
    shown = case.the("statements")
    if shown is None or not case.asks(r"duplicat|exactly the same|same (?:fact|thing)|去重|完全一致"):
        return None
    groups: list[tuple[str, list[int]]] = []
    for number, statement in _NUMBERED.findall(shown):
        like = [members for first, members in groups if same_statement(first, statement)]
        if like:
            like[0].append(int(number))
        else:
            groups.append((statement, [int(number)]))
    if case.form.outer:
        return _listed(case, [members for _, members in groups])
    return _dumps([members[0] for _, members in groups])


def _graded(case: Case) -> str | None:
    """Whether a response gives an accepted answer, in the words, letters or lines that the prompt asks for."""
    question, response, accepted = case.the("question") or case.the("task"), case.the("response"), case.the("accepted")
    if question is None or response is None or accepted is None:
        return None
    forms = [form for form in re.split(r"\s+\|\s+|\n(?:[-*]\s*)?", accepted) if form.strip()]
    found = credit(question, response, forms, strict=case.asks(r"as well, as far|every further statement"))
    state = "correct" if found.agrees else "incorrect" if found.answers else "not_attempted"
    verdict = _option(case, state)
    boolean = found.agrees if verdict in ("true", "false") or case.form.key("^is_|passed") else verdict
    values = (_REASON, " ".join(found.reason.split())), (_VERDICT, boolean), ("confidence", 100), ("", response[:200])
    if case.form.keys:
        return _dumps(_filled(case.form.keys, *values))
    if case.form.lines:
        return "\n".join(f"{label}: {value}" for label, value in _filled(case.form.lines, *values).items())
    return f"GRADE: {verdict}" if case.asks(r"GRADE:") else verdict


def _option(case: Case, state: str) -> str:
    """The verdict by the option that the prompt offers for it: a letter, or one of two words."""
    letters = re.findall(r"\b([A-E])[:.)]\s*[\"']?(CORRECT|INCORRECT|NOT_ATTEMPTED)", case.wanted)
    letters += re.findall(r"\b([A-Z])[\"'] for (correct|incorrect)", case.wanted)
    by_state: dict[str, str] = {name.lower(): letter for letter, name in letters}
    if by_state:
        return by_state.get(state) or by_state.get("incorrect", "B")
    for pair in (("yes", "no"), ("pass", "fail"), ("true", "false"), ("正确", "错误"), ("correct", "incorrect")):
        offered = rf"(?<!\w)({pair[0]})(?:[\"'*]*\s*(?:[,/|;]|or|and|或)\s*[\"'*]*{pair[1]}|[\"'] (?:if|when|for)\b)"
        if match := re.search(offered, case.wanted, re.IGNORECASE):
            word: str = pair[state != "correct"]
            return word.upper() if match[1].isupper() else word
    return state


def _citations(case: Case) -> str | None:
    """Every statement of a report that cites a URL, under the names of the form."""
    text, form = case.the("part") or case.the("article") or case.the("response"), case.form
    address, said = r"url|link|address", r"statement|fact|claim|text|sentence"
    if text is None or form.key(address) is None or form.key(said) is None:
        return None
    found = cited(text, reference_urls(case.the("listed") or text))
    none = None if form.numbers else 0  # where the example's number is no number, 0 stands for none
    values = [
        ((address, c.url), (said, c.statement), ("", none if c.reference is None else c.reference)) for c in found
    ]
    entries = [_filled(form.keys, *row) for row in values]
    return _dumps({form.outer[0]: entries} if form.outer else entries)


_DIMENSIONS: Final[dict[str, dict[str, Any]]] = DATA["dimensions"]


def _weighing(case: Case) -> str | None:
    """Weights of the four dimensions for a task, or the criteria of one of them, with their weights."""
    task, form = case.the("task"), case.form
    if task is None or case.the("article") or case.the("response"):
        return None
    about = ("、" if is_chinese(task) else ", ").join(named_things(task)[:3] or words(task)[:4])
    drawn = mood(case.request, "weighing")
    if set(_DIMENSIONS) <= set(map(_norm, form.keys)):
        leans = {name: len(re.findall(row["leans"], task, re.IGNORECASE)) for name, row in _DIMENSIONS.items()}
        raw = {name: 0.25 + 0.03 * min(3, lean) + drawn.uniform(-0.02, 0.02) for name, lean in leans.items()}
        shares = {key: round(raw[_norm(key)] / sum(raw.values()), 2) for key in form.keys if _norm(key) in raw}
        return f"The task is about {about}.\n{_dumps(shares)}"
    if not (form.key(r"^criterion") and form.key(r"weight")):
        return None
    bare = re.sub(r"\*\*\w[\w -]*:\*\*", "", case.wanted).lower()  # without the list that defines all four
    named = {
        name: bare.count(name.replace("_", " ")) + case.wanted.count(row["han"]) for name, row in _DIMENSIONS.items()
    }
    dimension = _norm(case.the("dimension") or max(named, key=lambda name: named[name]))
    row = _DIMENSIONS.get(dimension, _DIMENSIONS["comprehensiveness"])
    things = list(named_things(task)[:3]) or [about]
    names = [row["criterion"][is_chinese(task)].format(thing) for thing in things]
    said = "报告应具体、准确地做到：{}。" if is_chinese(task) else "Whether the report does this with facts: {}."
    values = [(("criterion", name), ("weight", round(1 / len(names), 4)), ("", said.format(name))) for name in names]
    return _dumps([_filled(form.keys, *entry) for entry in values])


def _cleaned(case: Case) -> str | None:
    """The article without its citations, where the prompt asks for the article back."""
    text = case.the("article")
    return without_citations(text) if text and not case.form.keys and case.asks(_CLEANING) else None


def _scored(case: Case) -> str | None:
    """One score or verdict on an article or response as a whole, or which of two is better."""
    texts, task = (
        case.material.get("article") or case.material.get("response", ()),
        case.the("task") or case.the("question"),
    )
    if not texts or task is None or not case.asks(_WHOLE):
        return None
    low, high = case.scale
    scores = _scores(case, texts[:2], case.the("criteria") or "", "", 0)
    shown = [int(score) if score == int(score) else score for score in scores]
    tie = len(scores) > 1 and abs(scores[0] - scores[1]) < 0.02 * (high - low)
    winner = "C" if tie else "B" if len(scores) > 1 and scores[1] > scores[0] else "A"
    passed = "pass" if scores[0] >= (low + high) / 2 else "fail"
    said = _comparison(scores, task[:60], high)
    values: list[tuple[str, Any]] = [(_REASON, said), (r"winner|prefer|better", "tie" if tie else winner)]
    values += [(rf"(?:{_SCORE}).*(?:2|b)$|(?:2|b)_(?:{_SCORE})", shown[-1]), (_SCORE, shown[0])]
    values.append(("", passed == "pass" if case.asks(r"\btrue\b|boolean") else passed))
    if case.form.keys:
        return _dumps(_filled(case.form.keys, *values))
    if case.form.lines:
        return "\n".join(f"{label}: {value}" for label, value in _filled(case.form.lines, *values).items())
    if bracketed := re.search(r"\[\[(?:A|rating|\d+)\]\]", case.wanted):
        return f"{said} [[{winner if bracketed[0] == '[[A]]' and len(scores) > 1 else shown[0]}]]"
    if case.asks(r"\bpass\b.{0,20}\bfail\b"):
        return passed.upper() if case.asks(r"(?-i:PASS)") else passed
    return str(winner if len(scores) > 1 else shown[0]) if case.asks(r"only|nothing else|just|single") else None


_KINDS: tuple[Callable[[Case], str | None], ...] = (
    _score_card, _verdicts, _groups, _graded, _citations, _weighing, _cleaned, _scored,
)  # fmt: skip
