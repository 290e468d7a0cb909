"""How reports say what the world's pages say: other words, lead-ins, additions that no page bears out or denies."""

from collections.abc import Mapping

from aiq.offline.world.prose.base import Templates

REWORDED: Mapping[str, Templates] = {
    "en": {
        ("company", "headquarters"): (
            "From its base in {v}, {s} steers all of its operations.",
            "{v} serves as the seat of {s}.",
        ),
        ("company", "founder"): ("{v} set up {s}.", "{s} owes its existence to {v}, who started it as a small shop."),
        ("company", "founded"): ("{s} was set up in {v}.", "The origins of {s} reach back to {v}."),
        ("company", "chief_executive"): (
            "{s} is run by chief executive {v}, who took the position in {since}.",
            "Executive leadership at {s} has rested with {v} since {since}.",
        ),
        ("company", "employees"): (
            "{s} had a staff of {v} as of {date}.",
            "With {v} workers ({date}), {s} counts among the sizeable employers of its trade.",
        ),
        ("person", "born_in"): ("{s} is a native of {v}.", "{v} is the place where {s} came into the world."),
        ("person", "birth_year"): ("{s}, born {v}, belongs to that generation.", "{s} (born in {v}) is well known."),
        ("person", "studied_at"): ("{s} was educated at {v}.", "{v} counts {s} among its alumni."),
        ("city", "country"): ("{s} is situated in {v}.",),
        ("city", "mayor"): (
            "{v}, mayor since {since}, heads the administration of {s}.",
            "The municipality of {s} is governed by mayor {v}.",
        ),
        ("city", "population"): (
            "{s} was home to {v} residents in {date}.",
            "The number of residents of {s} amounted to {v} ({date}).",
        ),
        ("city", "founded"): ("{s} came into being in {v}.", "The history of {s} as a city started in {v}."),
        ("city", "river"): ("{s} is crossed by the river {v}.", "{s} was built along the {v}."),
        ("institute", "city"): ("{s} is based in {v}.", "{v} houses {s}."),
        ("institute", "director"): (
            "{s} is led by its director {v}, who assumed office in {since}.",
            "{v} heads {s}, having been appointed director in {since}.",
        ),
        ("institute", "founded"): ("{s} was established in {v}.", "{s} has existed since {v}."),
        ("festival", "city"): ("{v} hosts {s}.", "{s} is staged in {v}."),
        ("festival", "winner"): ("{v} took first prize at {s} in {since}.", "{v} emerged as winner of {s} ({since})."),
        ("festival", "month"): ("{s} falls in {v} each year.",),
        ("club", "city"): ("{s} is based in {v}.", "{s} represents the city of {v}."),
        ("club", "coach"): (
            "{s} is managed by head coach {v}, in charge since {since}.",
            "{v} took charge of {s} as coach in {since}.",
        ),
        ("club", "stadium"): ("Home games of {s} are staged at {v}.",),
        ("book", "author"): ("{v} is the writer behind {s}.", "{s} came from the pen of {v}."),
        ("book", "published"): ("{s} came out in {v}.", "{s} was released in {v}."),
        ("scene", "begun"): ("The roots of {s} lie in {v}.",),
        ("scene", "turned"): ("Legislation of {v} reshaped {s} lastingly.",),
        ("scene", "volume"): ("{s} provided employment for {v} people in {date}.",),
    },
    "zh": {
        ("company", "headquarters"): ("{v}是{s}总部的所在地。",),
        ("company", "founder"): ("{v}是{s}的创立者。",),
        ("company", "founded"): ("{s}创建于{v}年。",),
        ("company", "chief_executive"): ("{s}目前由首席执行官{v}领导。",),
        ("company", "employees"): ("{s}的职工规模达到{v}人（{date}）。",),
        ("person", "born_in"): ("{v}是{s}的家乡。",),
        ("person", "birth_year"): ("{s}出生于{v}年。",),
        ("person", "studied_at"): ("{s}在{v}接受教育。",),
        ("city", "country"): ("{s}属于{v}。",),
        ("city", "mayor"): ("{v}现任{s}市长。",),
        ("city", "population"): ("{s}居民总数为{v}人（{date}）。",),
        ("city", "founded"): ("{s}建城于{v}年。",),
        ("city", "river"): ("{s}依{v}河而建。",),
        ("institute", "city"): ("{s}设在{v}。",),
        ("institute", "director"): ("{s}现由{v}担任院长。",),
        ("institute", "founded"): ("{s}建校于{v}年。",),
        ("festival", "city"): ("{v}是{s}的举办地。",),
        ("festival", "winner"): ("{since}，{v}在{s}上获奖。",),
        ("festival", "month"): ("{s}通常在{v}举办。",),
        ("club", "city"): ("{s}是{v}的足球队。",),
        ("club", "coach"): ("{v}执教{s}。",),
        ("club", "stadium"): ("{s}的主场设在{v}。",),
        ("book", "author"): ("{v}著有{s}。",),
        ("book", "published"): ("{s}首次出版是在{v}年。",),
        ("scene", "begun"): ("{s}起步于{v}年。",),
        ("scene", "turned"): ("{v}年，{s}因立法而发生深刻变革。",),
        ("scene", "volume"): ("{date}，共有{v}人从事{s}。",),
    },
}

LEAD_INS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "According to the available records, {x}",
        "It is worth noting that {x}",
        "As documented in public sources, {x}",
        "**Background:** {x}",
        "Recent material confirms that {x}",
        "In this context, {x}",
    ),
    "zh": ("根据现有资料，{x}", "值得注意的是，{x}", "**背景**：{x}", "公开资料显示，{x}"),
}

ADDITIONS: Mapping[str, tuple[str, ...]] = {
    "en": (
        ", which underlines its importance for the wider region",
        ", a point that matters for any assessment of the field",
        ", reflecting a long and steady development",
        ", making it a relevant case for comparison",
        ", as several observers have pointed out",
    ),
    "zh": ("，这体现了其在该地区的重要地位", "，这一点对于全面评估该领域具有参考意义", "，反映了其长期稳定的发展"),
}

ATTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "Corvey et al. show that {x}",
        "Tal and Brandeis (2021) found that {x}",
        "A recent review by Orm argues that {x}",
        "One of the studies finds that {x}",
    ),
    "zh": ("陈等人的研究认为，{x}", "林（2021）发现，{x}", "一项综述指出，{x}"),
}
"""Name an author whom the page need not name."""

JUDGEMENTS: Mapping[str, tuple[str, ...]] = {
    "en": (
        "There is growing agreement that the subject of {topic} calls for shared standards and open data.",
        "Work on {topic} is turning from description to optimisation with learned models.",
        "On balance, the evidence on {topic} remains too fragmented for firm policy advice.",
    ),
    "zh": (
        "学界普遍认为，{topic}需要统一标准和开放数据。",
        "关于{topic}的研究正从描述转向基于模型的优化。",
        "总体而言，{topic}的证据仍然零散，难以支撑政策建议。",
    ),
}
"""Say of a topic what no page says."""

DENIALS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (" is ", " is not "), (" was ", " was not "), (" has been ", " has never been "), (" lies ", " does not lie "),
        (" has ", " does not have "), (" plays ", " never plays "), (" studied ", " never studied "),
        (" employs ", " does not employ "), (" are ", " are not "), (" won ", " never won "),
        (" had ", " did not have "),
        (" comes ", " does not come "), (" holds ", " does not hold "), (" took ", " never took "),
    ),
    "zh": (
        ("位于", "并不位于"), ("出生于", "并非出生于"), ("的作者是", "的作者不是"), ("成立于", "并非成立于"),
        ("由", "并非由"), ("市长是", "市长不是"), ("担任", "未曾担任"), ("毕业于", "并未毕业于"),
    ),
}  # fmt: skip

JOINTS: Mapping[str, tuple[str, ...]] = {
    "en": ("{a}, and {b}", "{a}; {b}", "While {a}, {b}", "{a}, whereas {b}"),
    "zh": ("{a}，{b}", "{a}；同时，{b}"),
}
