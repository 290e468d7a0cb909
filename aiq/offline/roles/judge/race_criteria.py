"""The program that writes criteria and dimension weights for tasks that have none.

Why it answers as it does: weights lean with the words of the task (reasons and recommendations towards insight, lists
and overviews towards coverage, many conditions towards following them), with a little mood. Criteria are cut from a
stock and filled with what the task names; it names nothing that the task does not, so that its criteria never ask
for what a good report would find out by itself.
"""

import json
import re

from aiq.offline.chat import ChatReply, ChatRequest
from aiq.offline.judging.measures import named_things
from aiq.offline.judging.request import DECLINED, instructions, mood
from aiq.offline.reading.text import is_chinese, words

_BASE = {"comprehensiveness": 0.30, "insight": 0.30, "instruction_following": 0.22, "readability": 0.18}
_LEANS = {
    "insight": r"\bwhy|reason|cause|compare|recommend|analy[sz]|assess|explain|impact|trend"
    r"|为什么|原因|比较|建议|分析|评估|影响|趋势",
    "comprehensiveness": r"\boverview|survey|list|all|each|every|summar|综述|列出|所有|全面|梳理|总结",
    "instruction_following": r"\bmust|only|at least|between|from \d|format|table|必须|只|至少|之间|格式|表格",
}
_MOOD = 0.02
_STOCK: dict[str, tuple[tuple[str, str], ...]] = {
    "comprehensiveness": (
        ("Coverage of {about}", "The report states the main facts and figures about {about}."),
        ("Breadth of {about}", "The report looks at {about} from several sides and leaves no serious gap."),
        ("Development over time of {about}", "The report says how things have changed and where they stand."),
    ),
    "insight": (
        ("Reasons behind {about}", "The report explains why things are as they are, rather than listing them."),
        ("Comparison and judgement of {about}", "The report compares, weighs and concludes on {about}."),
        ("Figures put to use on {about}", "The report draws conclusions from figures instead of only stating them."),
    ),
    "instruction_following": (
        ("Answers what is asked on {about}", "The report answers every part of the task about {about}."),
        ("Stays with {about}", "The report keeps to the scope, period and place that the task sets."),
    ),
    "readability": (
        ("Order of the report on {about}", "Headings and paragraphs make the report easy to follow."),
        ("Language of the report on {about}", "Sentences are clear, and terms are explained."),
    ),
}
_STOCK_ZH: dict[str, tuple[tuple[str, str], ...]] = {
    "comprehensiveness": (
        ("{about}的覆盖面", "报告说明关于{about}的主要事实和数据。"),
        ("{about}的广度", "报告从多个方面考察{about}，没有严重缺漏。"),
    ),
    "insight": (
        ("{about}的原因", "报告解释原因，而不只是罗列。"),
        ("对{about}的比较与判断", "报告对{about}进行比较、权衡并得出结论。"),
    ),
    "instruction_following": (
        ("回答关于{about}的问题", "报告回答任务中关于{about}的每一部分。"),
        ("紧扣{about}", "报告遵守任务给出的范围、时期和地点。"),
    ),
    "readability": (
        ("关于{about}的报告结构", "标题和段落使报告易于理解。"),
        ("关于{about}的报告语言", "语句清楚，术语有解释。"),
    ),
}


def reply(request: ChatRequest) -> ChatReply:
    """Weights or criteria, whichever form the prompt names."""
    wanted, task = instructions(request), request.fenced("task")
    if task is None:
        return ChatReply(text=DECLINED)
    dimension = (request.fenced("dimension") or "").strip()
    if '[{"criterion"' in wanted and dimension in _STOCK:
        return ChatReply(text=json.dumps(_criteria(task, dimension), ensure_ascii=False))
    if '{"comprehensiveness"' in wanted:
        return ChatReply(text=f"This task is chiefly about {_about(task)}.\n{json.dumps(_weights(request, task))}")
    return ChatReply(text=DECLINED)


def _weights(request: ChatRequest, task: str) -> dict[str, float]:
    drawn = mood(request, "judge.race_criteria")
    raw = {
        name: base
        + 0.03 * min(3, len(re.findall(_LEANS.get(name, r"(?!)"), task, re.IGNORECASE)))
        + drawn.uniform(-_MOOD, _MOOD)
        for name, base in _BASE.items()
    }
    total = sum(raw.values())
    return {name: round(weight / total, 2) for name, weight in raw.items()}


def _criteria(task: str, dimension: str) -> list[dict[str, str | float]]:
    stock = (_STOCK_ZH if is_chinese(task) else _STOCK)[dimension]
    about = _about(task)
    return [
        {
            "criterion": name.format(about=about),
            "explanation": explanation.format(about=about),
            "weight": round(1 / len(stock), 2),
        }
        for name, explanation in stock
    ]


def _about(task: str) -> str:
    """What the task names, or its first words."""
    named = named_things(task)[:3] or tuple(dict.fromkeys(words(task)))[:4]
    return ("、" if is_chinese(task) else ", ").join(named) or "the task"
