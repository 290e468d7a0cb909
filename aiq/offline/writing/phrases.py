"""The connecting words of a report, in the task's language; each seed chooses among equals."""

from collections.abc import Sequence

from aiq.core.seeds import derive

_EN = {
    "lead": ("This report treats {subject}.", "The subject of this report is {subject}."),
    "parts": ("It takes up {list}.", "In turn it looks at {list}."),
    "things": ("It covers {list}.", "The things it covers are {list}."),
    "largest": (
        "Measured by {noun}, {top} comes first with {most}, and {bottom} last with {least}",
        "{top} leads by {noun} with {most}; at the other end stands {bottom} with {least}",
    ),
    "oldest": (
        "The oldest is {top} ({noun} {least}), the youngest {bottom} ({noun} {most})",
        "{top} goes back furthest ({noun} {least}), while {bottom} is the newest ({noun} {most})",
    ),
    "shared": ("{list} share the same {noun}, {value}", "{value} is the {noun} of {list}"),
    "together": (
        "Taken together, the evidence is strongest on {strong}.",
        "The findings say most about {strong}.",
    ),
    "weak": ("Least could be established about {list}.", "The sources found say little about {list}."),
    "open": ("No source that was found gives the {noun} of {list}.", "The {noun} of {list} could not be established."),
    "dated": ("Figures change; each stands here with the date that its source gives.",),
    "nothing": (
        "The sources that could be searched hold nothing on this subject, so that no statement is made about it.",
    ),
    "comparison": ("At a glance",),
    "name": ("Name",),
}
_ZH = {
    "lead": ("本报告讨论{subject}。", "本报告的主题是{subject}。"),
    "parts": ("内容依次为{list}。", "全文涉及{list}。"),
    "things": ("所涉及的对象有{list}。",),
    "largest": ("按{noun}比较，{top}居首，为{most}；{bottom}居末，为{least}",),
    "oldest": ("{top}最早（{noun}{least}），{bottom}最晚（{noun}{most}）",),
    "shared": ("{list}的{noun}相同，均为{value}",),
    "together": ("总体而言，关于{strong}的证据最充分。",),
    "weak": ("关于{list}的资料较少。",),
    "open": ("未找到说明{list}的{noun}的来源。",),
    "dated": ("数字随时间变化，文中均注明来源所给的日期。",),
    "nothing": ("可检索的来源中没有关于这一主题的内容，因此不作陈述。",),
    "comparison": ("一览",),
    "name": ("名称",),
}


def say(kind: str, seed: int | None, *, chinese: bool, **values: str) -> str:
    """The phrase of this kind with its values."""
    choices = (_ZH if chinese else _EN)[kind]
    return choices[derive(seed, "phrase", kind) % len(choices)].format(**values)


def enumerate_(items: Sequence[str], *, chinese: bool) -> str:
    """`A, B and C`; `A、B和C`."""
    if len(items) < 2:
        return "".join(items)
    if chinese:
        return "、".join(items[:-1]) + "和" + items[-1]
    return f"{', '.join(items[:-1])} and {items[-1]}"


def lowered(title: str) -> str:
    """A heading within a sentence: small at the start, unless its first word is a name or an abbreviation."""
    first = title.split(" ")[0]
    plain = first[1:].islower() and len(first) > 1
    return title[:1].lower() + title[1:] if plain else title
