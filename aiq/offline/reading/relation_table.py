"""The relations that can be asked of a thing: their synonyms in English and Chinese, and the type of their answers.

A relation is recognised in a question by `asked` and in evidence by `told`, both regular expressions over lower-case
text. This is vocabulary: nothing here says what is true of anything.
"""

from typing import Literal

from aiq.core.base import Record

AnswerType = Literal["person", "place", "thing", "number", "year", "date", "month", "yesno", "why", "text"]


class Relation(Record):
    """`noun` names the relation in a search query; `changing` says that its value differs from year to year.

    `needs` restricts the recognition in questions to these wanted types (`born` is a place or a year).
    """

    name: str
    noun: str
    answer: AnswerType
    asked: str
    told: str
    changing: bool = False
    needs: tuple[AnswerType, ...] = ()


_PLACE: tuple[AnswerType, ...] = ("place",)
TIME: tuple[AnswerType, ...] = ("year", "date")

RELATIONS: tuple[Relation, ...] = (
    Relation(name="turnover", noun="turnover", answer="number", asked=r"\bturnover\b", told=r"\bturnover\b"),
    Relation(name="budget", noun="budget", answer="number", asked=r"\bbudget\b", told=r"\bbudget\b"),
    Relation(name="auditor", noun="auditor", answer="person", asked=r"\bauditors?\b", told=r"\bauditors?\b"),
    Relation(name="treasurer", noun="treasurer", answer="person", asked=r"\btreasurers?\b", told=r"\btreasurers?\b"),
    Relation(
        name="partner",
        noun="research partner",
        answer="thing",
        asked=r"\bresearch partners?\b",
        told=r"\bresearch partners?\b",
    ),
    Relation(
        name="plant",
        noun="new plant",
        answer="place",
        needs=_PLACE,
        asked=r"\bnew plant\b",
        told=r"\bnew plant\b",
    ),
    Relation(
        name="mayor",
        noun="mayor",
        answer="person",
        changing=True,
        asked=r"\bmayors?\b|市长",
        told=r"\bmayor(?:s|alty|al)?\b|(?:city|town) hall|市长",
    ),
    Relation(
        name="chief_executive",
        noun="chief executive",
        answer="person",
        changing=True,
        asked=r"chief executive|\bceo\b|\b(?:runs|leads|heads)\b|首席执行官|总裁",
        told=r"chief executive|\bceo\b|\bhelm\b|\b(?:led|run|headed) by\b|首席执行官|总裁",
    ),
    Relation(
        name="coach",
        noun="head coach",
        answer="person",
        changing=True,
        asked=r"head coach|\bcoach(?:es|ed)?\b|\btrains\b|主教练",
        told=r"\bcoach(?:es|ed|ing)?\b|\bmanager\b|\btrain(?:s|ed|er)\b|\bbench\b|主教练|执教",
    ),
    Relation(
        name="director",
        noun="director",
        answer="person",
        changing=True,
        asked=r"\bdirector\b|\bdirects\b|院长|校长|所长",
        told=r"\bdirector(?:ship)?\b|\bdirect(?:s|ed)\b|\bheads?\b|\bheaded\b|\brector\b|院长|校长|所长",
    ),
    Relation(
        name="winner",
        noun="winner",
        answer="person",
        changing=True,
        asked=r"\bwinners?\b|\bwon\b|\bwins?\b|champion|得主|冠军|获奖",
        told=r"\bwinners?\b|\bwon\b|\bwins?\b|\bwinning\b|champion|first prize|\bprize\b|victory|得主|冠军|获奖"
        r"|夺得|获得",
    ),
    Relation(
        name="employees",
        noun="number of employees",
        answer="number",
        changing=True,
        asked=r"employees|\bemploys?\b|people (?:work|are employed)|work at|workforce|\bstaff\b|员工|雇员",
        told=r"employees|\bemploy(?:s|ed|ing)?\b|workforce|\bstaff\b|payroll|\bwork(?:s|ed|ers)?\b|\bheadcount\b"
        r"|员工|雇员|雇用",
    ),
    Relation(
        name="population",
        noun="population",
        answer="number",
        changing=True,
        asked=r"population|inhabitants|residents|people (?:live|are there)|人口|居民",
        told=r"population|inhabitants|residents|\bpeople\b|\blived?\b|人口|居民",
    ),
    Relation(
        name="headquarters",
        noun="headquarters",
        answer="place",
        changing=True,
        asked=r"headquarter|head office|\bbased\b|\bseat\b|总部",
        told=r"headquarter|(?:head|main) offices?\b|\bbased\b|\bseat\b|总部",
    ),
    Relation(
        name="stadium",
        noun="stadium",
        answer="thing",
        changing=True,
        asked=r"stadium|home ground|\barena\b|体育场|球场",
        told=r"stadium|\bground\b|\barena\b|home (?:matches|games)|\bpark\b|体育场|球场|主场",
    ),
    Relation(
        name="birthplace",
        noun="place of birth",
        answer="place",
        needs=_PLACE,
        asked=r"\bborn\b|birthplace|place of birth|home ?town|\bfrom\b|出生",
        told=r"\bborn\b|birthplace|\bbirth\b|native of|home ?town|grew up|出生|生于",
    ),
    Relation(
        name="birth_year",
        noun="year of birth",
        answer="year",
        needs=("year", "date", "number"),
        asked=r"\bborn\b|birth year|year of birth|date of birth|birthday|how old|\bage\b|出生|生于",
        told=r"\bborn\b|\bbirth\b|birthday|出生|生于",
    ),
    Relation(
        name="studied",
        noun="studied at",
        answer="thing",
        asked=r"\bstud(?:y|ied|ies)\b|educated|alma mater|graduated?|attend(?:ed)?|就读|毕业|学习",
        told=r"\bstud(?:y|ied|ies|ent)\b|educated|alma mater|graduat|\bdegree\b|\btrained\b|attended|enrolled"
        r"|就读|毕业|学习",
    ),
    Relation(
        name="founder",
        noun="founder",
        answer="person",
        needs=("person", "text"),
        asked=r"\bfounders?\b|\bfounded\b|co-?founded|\bestablished\b|\bstarted\b|创始人|创办人|创立|创办",
        told=r"\bfounders?\b|co-?found|\bfounded\b|established|\bstarted\b|\bcreated\b|\bset up\b"
        r"|\bgoes back to\b|创始人|创办|创立",
    ),
    Relation(
        name="founded_year",
        noun="founded year",
        answer="year",
        needs=TIME,
        asked=r"\bfounded\b|established|\bcreated\b|\bset up\b|\bbuilt\b|成立|创立|创办|建立|建于|建城",
        told=r"\bfound(?:ed|ing|ation)\b|established|\bcreated\b|\bset up\b|dates? (?:back to|from)|\bbuilt\b"
        r"|\bopened\b|\bcharter"
        r"|成立|创立|创办|建立|建于|建城|始建",
    ),
    Relation(
        name="published",
        noun="publication year",
        answer="year",
        needs=TIME,
        asked=r"published|\bcame out\b|appeared?|publication|\breleased?\b|出版|发表|问世",
        told=r"publish|came out|appeared|publication|\breleased?\b|first edition|\bprint|出版|发表|问世",
    ),
    Relation(
        name="author",
        noun="author",
        answer="person",
        asked=r"\bauthors?\b|\bwrote\b|written|\bwriter\b|作者|写的|撰写",
        told=r"\bauthors?\b|\bwrote\b|written|\bwriter\b|novel by|book by|by the novelist|作者|著|撰写|写",
    ),
    Relation(
        name="river",
        noun="river",
        answer="thing",
        asked=r"\brivers?\b|flows? through|河",
        told=r"\brivers?\b|\bflows?\b|\bbanks?\b|河",
    ),
    Relation(
        name="country",
        noun="country",
        answer="place",
        asked=r"\bcountr(?:y|ies)\b|国家|哪国",
        told=r"\bcountr(?:y|ies)\b|\b(?:city|town|port|capital|municipality|lies|located|situated|place)\b|国家"
        r"|位于|城市",
    ),
    Relation(
        name="month",
        noun="month",
        answer="month",
        needs=("month",),
        asked=r"\bheld\b|take[sn]? place|celebrated|\bmonth\b|举行|举办|月",
        told=r"\bmonth\b|\bheld\b|take[sn]? place|every|each|annual|举行|举办|每年",
    ),
    Relation(
        name="location",
        noun="city",
        answer="place",
        needs=_PLACE,
        asked=r"\bheld\b|take[sn]? place|\bplays?\b|located|\bhosts?\b|situated|\blies\b|\bcity\b|举行|举办|位于|所在",
        told=r"\bheld\b|take[sn]? place|\bplays?\b|located|\bhosts?\b|hosted|situated|\blies\b|\bcity\b|\bin\b"
        r"|\bcampus\b|\bhome\b"
        r"|举行|举办|位于|设在|坐落|主场",
    ),
    Relation(
        name="spouse",
        noun="spouse",
        answer="person",
        asked=r"married to|\bwife\b|\bhusband\b|\bspouse\b|配偶|妻子|丈夫",
        told=r"\bmarri(?:ed|age)\b|\bwife\b|\bhusband\b|\bspouse\b|partner|配偶|妻子|丈夫|结婚",
    ),
    Relation(
        name="capital",
        noun="capital",
        answer="place",
        asked=r"\bcapital\b|首都",
        told=r"\bcapital\b|首都",
    ),
    Relation(
        name="painter",
        noun="painter",
        answer="person",
        needs=("person",),
        asked=r"painted",
        told=r"\bpaint(?:ed|er|ing by)\b",
    ),
    Relation(
        name="inventor",
        noun="inventor",
        answer="person",
        needs=("person",),
        asked=r"invent(?:ed|or)|creat(?:ed|or)|develop(?:ed|er)",
        told=r"invent|\bcreat(?:ed|or)\b|develop(?:ed|er)",
    ),
    Relation(
        name="film_director",
        noun="director",
        answer="person",
        needs=("person",),
        asked=r"directed",
        told=r"\bdirect(?:ed|or)\b",
    ),
    Relation(
        name="designer",
        noun="designer",
        answer="person",
        needs=("person",),
        asked=r"designed|architect",
        told=r"\bdesign(?:ed|er)\b|architect",
    ),
    Relation(
        name="composer",
        noun="composer",
        answer="person",
        needs=("person",),
        asked=r"composed|composer",
        told=r"\bcompos(?:ed|er)\b",
    ),
    Relation(
        name="discoverer",
        noun="discoverer",
        answer="person",
        needs=("person",),
        asked=r"discover(?:ed|er)",
        told=r"discover",
    ),
)
