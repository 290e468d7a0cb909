"""Chinese research tasks as a subject and facets: cut at their punctuation, without the words of asking."""

import re

from aiq.offline.reading.tasks import COMPARE, MOST_FACETS, Facet, Task
from aiq.offline.reading.text import words

_LEAD = re.compile(
    r"^(?:请|你|您|能否|能不能|帮我|帮忙|为我|给我|并|再|还|也|同时|此外|最后|另外|以及|需要|要求|内容|报告|应"
    r"|其中|然后|特别|尤其)+"
)
_REQUEST = re.compile(
    r"^(?:收集整理|收集|整理|撰写|编写|写出|写|提供|完成|给出|介绍|说明|分析|调研|研究|总结|概括|概述|探讨|讨论"
    r"|评估|梳理|列出|列举|指出|涵盖|包括|包含|横向比较|比较|对比分析|对比|预测|了解|一下|下)+"
    r"(?:关于|有关)?(?:一份|一篇|一个)?(?:关于|有关)?(?:目前|当前|近几年)?"
)
_PRODUCT = re.compile(
    r"的?(?:研究|调研|综述|分析|详尽的|简短的|完整的)*(?:报告|综述|文章|指南)$|^(?:报告|综述|文章|指南)|(?:的)?(?:相关资料"
    r"|有关资料|资料|情况)$"
)
_CUT = re.compile(r"[，、；：:;,]|以及|并且|同时")


def parse_chinese(text: str) -> Task:
    """The task's subject, its first piece, and facets, the others."""
    lines = [part for part in re.split(r"[。！？\n?!]+", text) if part.strip()] or [text]
    pieces: list[str] = []
    for line in lines:
        for part in _CUT.split(re.sub(r"[（(][^）)]*[）)]", "", line)):
            cleaned = _clean(part)
            if 2 <= len(cleaned) <= 40:
                pieces.append(cleaned[:26])
    unique = list(dict.fromkeys(pieces)) or [text[:20]]
    return Task(
        text=text,
        chinese=True,
        subject=unique[0],
        title=unique[0],
        context="",
        facets=tuple(Facet(title=piece, words=words(piece)) for piece in unique[1 : MOST_FACETS + 1]),
        compare=COMPARE.search(text) is not None,
    )


def _clean(part: str) -> str:
    body = part.strip(" “”\"'《》·")
    for _ in range(2):
        body = _REQUEST.sub("", _LEAD.sub("", body))
    body = re.sub(r"等(?:多个)?(?:维度|方面|内容|等)?(?:进行)?$", "", _PRODUCT.sub("", body))
    return body.strip("的 “”")
