"""One entry for whoever asks for a judgement: what is to be judged, and the reply in the form that is asked for."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.engine.text import is_chinese, words
from aiq.offline.judging.citing import cited, reference_urls, without_citations
from aiq.offline.judging.credit import Finding, credit
from aiq.offline.judging.quality import aspects, named_things, quality
from aiq.offline.judging.request import Case, dumps, mood, read_case
from aiq.offline.judging.support import same_statement, support

IN_FRONT = 0.1
"""Points out of ten that the article in front gets for its place: a bias planted so that calibration can find it."""
NOISE = 0.2
"""Points out of ten by which a score strays to either side, by the judge's mood; doubled where nothing is compared."""

_LONGEST = 3_000_000
_NUMBERED = re.compile(r"^\s*(\d+)[.)、:]\s*(.+)$", re.MULTILINE)
_REASON = r"analysis|reason|comment|explanation|justification|rationale|feedback|分析|理由|评语"
_VERDICT = r"verdict|result|label|judg|evaluation|grade|correct|support|pass|outcome|decision|winner|prefer|better"
_SCORE = r"score|rating|grade|points|mark|分"
_CUE = re.compile(
    r"judg|evaluat|score|scoring|grade|grading|rate |rating|assess|criteri|verdict|support|cite|citation|duplicate|weight|compare|statements|correct"
    r"|评|打分|引用|去重|支持|判断|权重|标准", re.IGNORECASE,
)  # fmt: skip


def judge(request: ChatRequest) -> ChatReply | None:
    """The judgement that a request asks for; None where it asks for none, or not in a form that can be told."""
    if request.tools or any(message.role == "tool" for message in request.messages):
        return None
    if sum(len(message.text) for message in request.messages) > _LONGEST or not any(_CUE.search(m.text) for m in request.messages):
        return None
    case = read_case(request)
    for attempt in (_score_card, _verdicts, _groups, _graded, _citations, _weighing, _cleaned, _scored):
        if (text := attempt(case)) is not None:
            return ChatReply(text=text)
    return None


def _score_card(case: Case) -> str | None:
    """A score for every criterion, of one article or of two that are compared."""
    articles, shown = case.material.get("article", ()), case.the("criteria")
    criteria = read_criteria(shown) if shown else {}
    keys = [key for key in case.form.keys if re.search(_SCORE, key, re.IGNORECASE)]
    if not articles or not criteria or not keys or len(keys) < len(articles[:2]):
        return None
    if "" in criteria and not (case.form.array or case.form.outer or case.form.key(r"criteri|标准")):
        return None  # one score for all criteria
    named = [] if case.form.open else [_norm(name) for name in case.form.outer]
    outer = [name for name in criteria if not named or _norm(name) in named] or list(criteria)
    card = {
        name: [_marks(case, articles, keys, name, number, criterion) for number, criterion in enumerate(criteria[name])] for name in outer
    }
    if "" in card:
        wrapper = case.form.outer[0] if case.form.outer else None
        return dumps({wrapper: card[""]} if wrapper else card[""])
    return dumps(card)


def _norm(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def _marks(case: Case, articles: Sequence[str], keys: Sequence[str], dimension: str, number: int, criterion: dict[str, str]) -> dict[str, Any]:
    """The entry of one criterion, its keys named and ordered as the form has them."""
    text = ". ".join(value for value in criterion.values() if isinstance(value, str))
    scores = scores_of(case, articles, text, dimension, number)
    entry: dict[str, Any] = {}
    for key in case.form.keys:
        if key in keys:
            entry[key] = scores[min(keys.index(key), len(scores) - 1)]
        elif re.search(_REASON, key, re.IGNORECASE):
            entry[key] = _analysis(scores, criterion["criterion"], case.scale[1])
        elif re.search(r"criteri|name|标准", key, re.IGNORECASE):
            entry[key] = criterion["criterion"]
    return entry


def scores_of(case: Case, articles: Sequence[str], criterion: str, dimension: str, number: int) -> list[float]:
    """The scores of all articles on one criterion, on the scale asked for, with mood and the place in front."""
    task, (low, high) = case.the("task") or case.the("question") or "", case.scale
    drawn = mood(case.request, "judging", dimension, number)
    noise = NOISE * (1 if len(articles) > 1 else 2)
    found = []
    for place, article in enumerate(articles):
        others = [other for at, other in enumerate(articles) if at != place]
        met = quality(article, criterion, task, others, _norm(dimension), case.the("criteria") or "")
        lean = drawn.uniform(-noise, noise) + (IN_FRONT if place == 0 and others else 0)
        score = low + (high - low) * (0.1 + 0.9 * met + lean / 10 if met else 0.0)
        found.append(round(min(high, max(low, score)), 1 if high - low >= 5 else 2))
    return found


def _analysis(scores: Sequence[float], name: str, high: float) -> str:
    if len(scores) == 1:
        met = "most" if scores[0] > 0.6 * high else "some" if scores[0] > 0.3 * high else "little"
        return f"就“{name}”而言，报告得{scores[0]}分。" if is_chinese(name) else f"On '{name}' the report meets {met} of it."
    first, second = scores[:2]
    if is_chinese(name):
        return f"就“{name}”而言，" + ("两篇水平相近。" if abs(first - second) < 0.5 else f"文章{'一' if first > second else '二'}更好。")
    better = "both do about equally well" if abs(first - second) < 0.5 else f"article {1 if first > second else 2} does better"
    return f"On '{name}', {better}."


def read_criteria(text: str) -> dict[str, list[dict[str, str]]]:
    """The criteria by dimension, from JSON, from JSON lists under headings, or from lines; "" where none is named."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        lists = {name: items for name, items in value.items() if isinstance(items, list)}
        return {name: [_criterion(item) for item in items] for name, items in lists.items()}
    if isinstance(value, list):
        return {"": [_criterion(item) for item in value]}
    headed = re.findall(r"^#+\s*(.+?)\s*\n(\[.*?^\])", text, re.MULTILINE | re.DOTALL)
    if headed:
        return {_norm(m[1] if (m := re.search(r"[（(]([\w ]+)[)）]", name)) else name): read_criteria(body).get("", []) for name, body in headed}
    lines = [re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", line).strip() for line in text.splitlines()]
    return {"": [{"criterion": line} for line in lines if words(line)]}


def _criterion(item: Any) -> dict[str, str]:
    if not isinstance(item, dict):
        return {"criterion": str(item)}
    known = {str(key): str(value) for key, value in item.items() if isinstance(value, str)}
    return {"criterion": next(iter(known.values()), ""), **known}


def _verdicts(case: Case) -> str | None:
    """Supported or not, for every numbered statement about a page."""
    page, shown = case.the("page"), case.the("statements")
    verdict = case.form.key(_VERDICT)
    if page is None or shown is None or verdict is None:
        return None
    number = next((key for key in case.form.keys if key != verdict and not re.search(_REASON, key)), None)
    in_part = case.asks(r"some or all|(?:entirely|fully|wholly) or part|部分|in part")
    entries = []
    for index, statement in _NUMBERED.findall(shown) or [("1", shown)]:
        found: str = support(statement, page, in_part=in_part)
        if found == "unknown" and not case.asks("unknown"):
            found = "unsupported"
        entry: dict[str, Any] = {}
        for key in case.form.keys:
            entry[key] = _worded(case, found) if key == verdict else int(index) if key == number else f"The page reads as {found}."
        entries.append(entry)
    return dumps({case.form.outer[0]: entries} if case.form.outer else entries if case.form.array else entries[0])


def _worded(case: Case, found: str) -> str | bool:
    """The verdict in the words that the prompt offers."""
    return found if case.asks(r"\bunsupported\b") else found if found != "unsupported" else "not supported"


def _groups(case: Case) -> str | None:
    """Which of several numbered statements say the same: as groups, or as those that stay."""
    shown = case.the("statements")
    if shown is None or not case.asks(r"duplicat|exactly the same|same (?:fact|thing)|去重|完全一致"):
        return None
    groups: list[tuple[str, list[int]]] = []
    for index, statement in _NUMBERED.findall(shown):
        group = next((members for first, members in groups if same_statement(first, statement)), None)
        if group is None:
            groups.append((statement, [int(index)]))
        else:
            group.append(int(index))
    if case.form.outer:
        return dumps({case.form.outer[0]: [members for _, members in groups]})
    return dumps([members[0] for _, members in groups])


def _graded(case: Case) -> str | None:
    """Whether a response gives an accepted answer, in the words, letters or lines that the prompt asks for."""
    question, response, accepted = case.the("question") or case.the("task"), case.the("response"), case.the("accepted")
    if question is None or response is None or accepted is None:
        return None
    forms = [form for form in re.split(r"\s+\|\s+|\n(?:[-*]\s*)?", accepted) if form.strip()]
    found = credit(question, response, forms, strict=case.asks(r"as well, as far|every further statement|全部陈述"))
    verdict = graded(case, found)
    reason = " ".join(found.reason.split())
    if case.form.keys:
        return dumps({key: reason if re.search(_REASON, key) else found.agrees if re.search(r"^(?:is_)?(?:correct|pass)", key) and not case.asks("yes") else verdict for key in case.form.keys})
    if case.form.lines:
        return "\n".join(f"{label}: {_line(label, verdict, reason, response)}" for label in case.form.lines)
    return f"GRADE: {verdict}" if case.asks(r"GRADE:") else verdict


def _line(label: str, verdict: str, reason: str, response: str) -> str:
    if re.search(_REASON, label, re.IGNORECASE):
        return reason
    if re.search(_VERDICT, label, re.IGNORECASE):
        return verdict
    return "100" if re.search("confidence", label, re.IGNORECASE) else " ".join(response.split())[:200]


def graded(case: Case, found: Finding) -> str:
    """The verdict by the option that the prompt describes for it: a letter, or one of two words."""
    state = "correct" if found.agrees else "not_attempted" if "no answer" in found.reason or "empty" in found.reason else "incorrect"
    letters = dict(re.findall(r"\b([A-E])[:.)]\s*[\"']?(CORRECT|INCORRECT|NOT_ATTEMPTED|PARTIAL\w*|PASS|FAIL)", case.wanted))
    letters |= {m[0]: m[1].upper() for m in re.findall(r"\b([A-Z])[\"'] for (correct|incorrect)", case.wanted)}
    by_state = {name.lower(): letter for letter, name in letters.items()}
    if by_state:
        return by_state.get(state) or by_state.get({"correct": "pass"}.get(state, "fail")) or by_state.get("incorrect", "B")
    pairs = (("yes", "no"), ("pass", "fail"), ("true", "false"), ("正确", "错误"), ("correct", "incorrect"))
    for yes, no in pairs:
        if match := re.search(rf"(?<!\w)({yes})(?:[\"'*]*\s*(?:,|/|or|and|或|\||;)\s*[\"'*]*{no}|[\"'] (?:if|when|for)\b)", case.wanted, re.IGNORECASE):
            word = yes if found.agrees else no
            return word.upper() if match[1].isupper() else word.capitalize() if match[1][0].isupper() else word
    return state


def _citations(case: Case) -> str | None:
    """Every statement of a report that cites a URL, under the names of the form."""
    text = case.the("part") or case.the("article") or case.the("response")
    address = case.form.key(r"url|link|address")
    said = case.form.key(r"statement|fact|claim|text|sentence")
    if text is None or address is None or said is None:
        return None
    number = next((key for key in case.form.keys if key not in (address, said)), None)
    listed = reference_urls(case.the("listed") or text)
    none = None if number is None or number in case.form.numbers else 0
    entries = []
    for entry in cited(text, listed):
        values = {said: entry.statement, number: entry.reference if entry.reference is not None else none, address: entry.url}
        entries.append({key: values[key] for key in case.form.keys if key in values})
    return dumps({case.form.outer[0]: entries} if case.form.outer else entries)


_STOCK = {
    "comprehensiveness": (("Coverage of {0}", "{0}的覆盖面"), ("Breadth of what is said on {0}", "{0}的广度")),
    "insight": (("Comparison and reasons on {0}", "对{0}的比较与原因"), ("Conclusions drawn on {0}", "关于{0}的结论")),
    "instruction_following": (("All parts of the task on {0} answered", "关于{0}的每一部分都已回答"), ("Stays with {0}", "紧扣{0}")),
    "readability": (("Order of the report on {0}", "关于{0}的报告结构"), ("Language of the report on {0}", "关于{0}的报告语言")),
}
_LEANS = {
    "insight": r"\bwhy|reason|cause|compare|recommend|analy[sz]|assess|explain|impact|trend|为什么|原因|比较|建议|分析|评估|影响|趋势",
    "comprehensiveness": r"\boverview|survey|list|all|each|every|summar|综述|列出|所有|全面|梳理|总结",
    "instruction_following": r"\bmust|only|at least|between|from \d|format|table|必须|只|至少|之间|格式|表格",
    "readability": r"\breadable|plain|short|general reader|通俗|简短",
}


def _weighing(case: Case) -> str | None:
    """Weights of the four dimensions for a task, or the criteria of one of them, with their weights."""
    task, form = case.the("task"), case.form
    if task is None or case.the("article") or case.the("response"):
        return None
    drawn = mood(case.request, "weighing")
    if set(_STOCK) <= set(map(_norm, form.keys)):
        raw = {key: 0.25 + 0.03 * min(3, len(re.findall(_LEANS[_norm(key)], task, re.IGNORECASE))) + drawn.uniform(-0.02, 0.02) for key in form.keys if _norm(key) in _STOCK}
        return f"The task is about {_about(task)}.\n{dumps({key: round(weight / sum(raw.values()), 2) for key, weight in raw.items()})}"
    if not (form.key(r"^criterion") and form.key(r"weight")):
        return None
    dimension = _norm(case.the("dimension") or "") or _dimension_asked(case.wanted)
    entries = []
    for stock in _STOCK.get(dimension, _STOCK["comprehensiveness"]):
        name = stock[is_chinese(task)].format(_about(task))
        values: list[tuple[str, Callable[[], Any]]] = [("criterion", lambda n=name: n), ("weight", lambda: 0.5)]
        known = {key: next((make() for word, make in values if word in key), f"Whether the report meets it: {name}.") for key in form.keys}
        entries.append(known)
    return dumps(entries)


def _dimension_asked(wanted: str) -> str:
    """The dimension named most often in bold or between quotes, else most often at all."""
    counts = {name: len(re.findall(name.replace("_", "[ _-]"), re.sub(r"\*\*\w[\w -]*:\*\*", "", wanted), re.IGNORECASE)) for name in _STOCK}
    han = dict(zip(_STOCK, ("全面性", "洞察力", "指令遵循", "可读性"), strict=True))
    return max(_STOCK, key=lambda name: counts[name] + wanted.count(han[name]))


def _about(task: str) -> str:
    named = named_things(task)[:3] or tuple(dict.fromkeys(words(task)))[:4]
    return ("、" if is_chinese(task) else ", ").join(named) or "the task"


def _cleaned(case: Case) -> str | None:
    """The article without its citations, where the prompt asks for the article back."""
    text = case.the("article")
    if text is None or case.form.keys or not case.asks(r"\b(?:without|remov\w+|take out|strip\w*|clean\w*)\b.{0,400}(?:citation|reference)|(?:去除|去掉|移除|清洗).{0,200}引用"):
        return None
    return without_citations(text)


def _scored(case: Case) -> str | None:
    """One score or verdict on an article or response as a whole, or which of two is better."""
    texts = case.material.get("article", ()) or case.material.get("response", ())
    task = case.the("task") or case.the("question")
    if not texts or task is None or not case.asks(r"\b(?:score|rate|rating|grade|judge|evaluate|assess|which (?:is|of))\b|评分|打分|评价|评估"):
        return None
    criteria = read_criteria(case.the("criteria") or "").get("", [])
    scores = scores_of(case, texts, " ".join(c["criterion"] for c in criteria), "", 0)
    low, high = case.scale
    whole = [int(round(s)) if s == round(s) or case.asks("integer|whole number") else s for s in scores]
    passed = scores[0] >= (low + high) / 2
    winner = "tie" if len(scores) > 1 and abs(scores[0] - scores[1]) < 0.02 * (high - low) else "A" if len(scores) < 2 or scores[0] > scores[1] else "B"

    def value(key: str) -> Any:
        if re.search(_REASON, key, re.IGNORECASE):
            return _analysis(scores, task[:60], high)
        if re.search(r"winner|prefer|better", key, re.IGNORECASE):
            return winner
        if re.search(_SCORE, key, re.IGNORECASE):
            return whole[1] if len(whole) > 1 and re.search(r"(?:2|b|two|second)(?:_|$)|_b\b|_2", key, re.IGNORECASE) else whole[0]
        return passed if case.asks(r"true|boolean") else "pass" if passed else "fail"

    if case.form.keys:
        return dumps({key: value(key) for key in case.form.keys})
    if case.form.lines:
        return "\n".join(f"{label}: {value(label)}" for label in case.form.lines)
    if match := re.search(r"\[\[(?:A|rating|\d+)\]\]", case.wanted):
        return f"{_analysis(scores, task[:60], high)} [[{winner if match[0] == '[[A]]' and len(scores) > 1 else whole[0]}]]"
    if case.asks(r"\bpass\b.{0,20}\bfail\b") and len(scores) == 1:
        return "PASS" if passed else "FAIL" if case.asks(r"(?-i:PASS)") else "pass" if passed else "fail"
    return str(winner if len(scores) > 1 else whole[0]) if case.asks(r"only|nothing else|just|single") else None
