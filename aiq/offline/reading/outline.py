"""The outline of a report: sections from a task's facets, filled up with aspects that any subject has.

`Aspect` also says by which words a sentence shows that it belongs to such a section, so that a section called
"Challenges" attracts sentences with "however" and "risk" wherever its title came from.
"""

import re
from collections.abc import Sequence

from aiq.core.base import Record
from aiq.offline.reading.tasks import Task
from aiq.offline.reading.text import words


class Aspect(Record):
    """`asked` recognises it in a section's title, `told` in a sentence.

    `en` and `zh` are titles of its own, `search_en` and `search_zh` what to search for beside the subject.
    """

    en: str
    zh: str
    search_en: str
    search_zh: str
    asked: str
    told: str


ASPECTS: tuple[Aspect, ...] = (
    Aspect(
        en="Background",
        zh="背景",
        search_en="overview introduction",
        search_zh="概况 历史",
        asked=r"background|histor|\borigins? of|\bbegan\b|development|chang|evolution|definition|overview"
        r"|introduction|背景|历史|起源|概念|演变|概述|引言|起步|变化|发展",
        told=r"\b(?:began|founded|established|first|originally|history|since|dates? (?:back )?to|origin\w*"
        r"|known as|defined as|refers? to"
        r"|introduced|discovered|reform|new law|changed)\b|始于|改革|新法律|改变|起源|历史|最早|成立|定义|是指",
    ),
    Aspect(
        en="Approaches and mechanisms",
        zh="方法与机制",
        search_en="methods mechanisms",
        search_zh="方法 机制",
        asked=r"approach|method|mechanism|how\b|technique|strateg|model|design|方法|机制|技术|策略|原理|模型|路线",
        told=r"\b(?:method|approach|mechanism|technique|algorithm|model|strateg\w+|process|design|system|use[sd]?"
        r"|using|based on|by means of)\b"
        r"|方法|机制|技术|算法|模型|策略|采用|通过",
    ),
    Aspect(
        en="Evidence and results",
        zh="证据与结果",
        search_en="results demonstrated",
        search_zh="数据 结果",
        asked=r"evidence|result|data|finding|number|size|figure|performance|feasib|证据|结果|数据|数量|规模|性能|业绩",
        told=r"\d\s?%|\b(?:found|shows?|showed|shown|results?|measured|observed|demonstrat\w+|achiev\w+"
        r"|increase[sd]?|reported|stud(?:y|ies))\b"
        r"|表明|发现|结果|达到|增长|数据显示|\d+人",
    ),
    Aspect(
        en="Challenges and limits",
        zh="挑战与局限",
        search_en="challenges limitations",
        search_zh="挑战 问题",
        asked=r"challeng|limit|risk|problem|disturb|weakness|obstacle|barrier|挑战|局限|风险|问题|困难|干扰",
        told=r"\b(?:however|although|challeng\w+|limit\w*|risks?|problem|difficult\w*|disturb\w*|interfer\w*|noise"
        r"|damage|loss|uncertain\w*|lack|fail\w*"
        r"|warn|costs?)\b|但|然而|挑战|局限|风险|困难|不足|成本",
    ),
    Aspect(
        en="Outlook",
        zh="展望",
        search_en="future prospects",
        search_zh="前景 趋势",
        asked=r"future|outlook|trend|prospect|forecast|potential|likely|expect|recommend|展望|未来|趋势|前景|预测"
        r"|建议|潜力",
        told=r"\b(?:future|expect\w*|will|planned|plans?|potential|promis\w+|prospect|trend|likely|next|growth"
        r"|forecast|emerging)\b"
        r"|未来|预计|将|潜力|趋势|前景|增长",
    ),
)

_CONCLUDING = re.compile(r"\bconclu|\bsummary\b|结论|总结|结语", re.IGNORECASE)


def sections(task: Task, least: int, most: int) -> list[str]:
    """Between `least` and `most` titles in the task's language: facets, aspects as padding, the conclusion last."""
    titles = [facet.title for facet in task.facets if not _CONCLUDING.search(facet.title)]
    first, *others = ASPECTS
    if not _has(titles, first):
        titles.insert(0, _own(first, task))
    compared = "比较" if task.chinese else "Comparison"
    if task.compare and not any(re.search(r"compar|比较|对比", title, re.IGNORECASE) for title in titles):
        titles.append(compared)
    titles = titles[: most - 1]
    for aspect in others:
        if len(titles) + 1 < least and not _has(titles, aspect):
            titles.append(_own(aspect, task))
    return [*titles, "结论" if task.chinese else "Conclusion"]


def aspect_of(title: str) -> Aspect | None:
    """The aspect that a section's title speaks of, if any."""
    return next((aspect for aspect in ASPECTS if re.search(aspect.asked, title, re.IGNORECASE)), None)


def is_conclusion(title: str) -> bool:
    return _CONCLUDING.search(title) is not None


def own_words(title: str, subject: str) -> tuple[str, ...]:
    """What a title says beyond the subject; all of it where that is nothing."""
    of_subject = set(words(subject))
    return tuple(word for word in words(title) if word not in of_subject) or words(title)


def number_range(prompt: str, noun: str) -> tuple[int, int] | None:
    """The numbers of "5 to 8 sections" in a prompt; None where it states none."""
    found = re.search(rf"(\d+) to (\d+) (?:[a-z]+ )?{noun}", prompt)
    return (int(found.group(1)), int(found.group(2))) if found else None


def _has(titles: Sequence[str], aspect: Aspect) -> bool:
    return any(re.search(aspect.asked, title, re.IGNORECASE) for title in titles)


def _own(aspect: Aspect, task: Task) -> str:
    return aspect.zh if task.chinese else aspect.en
