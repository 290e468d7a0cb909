"""What research tasks are about: which facts of which members they ask for, and how the task is worded."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """One sort of research task.

    `category` is the official topic column. `asked`: relations of each kind of member. `links`: the
    relation that leads to the person behind a member. `far`: relations of what a person's page leads
    to. `prompts` and `titles` by language; they may name `{scene}`, `{region}`, `{on}`.
    """

    category: str
    asked: dict[str, tuple[str, ...]]
    links: dict[str, str]
    far: dict[str, tuple[str, ...]]
    prompts: dict[str, tuple[str, ...]]


PERSONAL = ("born_in", "studied_at")
"""What every task wants to know of the people behind the members."""

TOPICS: dict[str, Topic] = {
    "sector": Topic(
        category="Industrial",
        asked={"company": ("headquarters", "chief_executive", "employees", "founder")},
        links={"company": "founder"},
        far={"studied_at": ("founded", "director")},
        prompts={
            "en": (
                "Write a report on {scene}: which companies there are, who founded and who leads them, where they are "
                "headquartered and how many people they employ, in which cities their founders were born and at which "
                "institutes they studied, when those institutes were founded and who directs them today, and how the "
                "trade as a whole began and has changed.",
                "I am preparing an investment in {scene}. Give me a full picture of the companies (headquarters, chief "
                "executives, number of employees, founders), of the founders' origins and education including the age "
                "and present directors of the institutes where they studied, and of the development of the trade "
                "up to now.",
            ),
            "zh": (
                ""
                "请撰写一份关于{scene}的研究报告：有哪些公司，由谁创办、由谁领导，总部设在哪里，员工有多少；创始人出生于哪座城市、"
                "就读于哪所院校，这些院校成立于何时、现任院长是谁；以及该行业如何起步、如何变化。",
            ),
        },
    ),
    "learning": Topic(
        category="Education & Jobs",
        asked={"institute": ("city", "founded", "director")},
        links={"institute": "director"},
        far={"born_in": ("mayor", "population"), "studied_at": ("founded",)},
        prompts={
            "en": (
                "Survey {scene}: which institutes there are, in which cities they are located, when they were "
                "founded and "
                "who directs them now; where the directors were born and studied, how old the institutes are at which "
                "they studied, who is the mayor of the cities they come from and how many people live there; and how "
                "the field began and how many people work in it today.",
                "Please compare the institutes that make up {scene}. Cover location, age and present director of each, "
                "the birthplaces and places of study of the directors, the present mayor and population of those "
                "birthplaces, and the history and size of the field.",
            ),
            "zh": (
                ""
                "请调研{scene}：有哪些院校，位于哪座城市，成立于何时，现任院长是谁；各位院长出生于何地、就读于哪所院校，"
                "这些院校成立于何时，出生城市的现任市长是谁、人口有多少；以及该领域如何起步、目前有多少从业人员。",
            ),
        },
    ),
    "letters": Topic(
        category="Literature",
        asked={"book": ("author", "published")},
        links={"book": "author"},
        far={"studied_at": ("founded", "director"), "born_in": ("mayor",)},
        prompts={
            "en": (
                "Write an essay on {scene}: the novels most often named, their authors and years of publication, where "
                "the authors were born and at which institutes they studied, when those institutes were founded "
                "and who "
                "directs them today, who is the mayor of the authors' home cities, and how the literary life began "
                "and has changed.",
                "What characterises {scene}? Discuss the leading novels with author and year, the authors' birthplaces "
                "and education, the institutes that formed them (age, present director), the present mayors of their "
                "home cities, and the history and size of the field.",
            ),
            "zh": (
                "请撰写一篇关于{scene}的文章：最常被提到的长篇小说、作者和出版年份；作者出生于何地、就读于哪所院校，"
                "这些院校成立于何时、现任院长是谁；作者家乡城市的现任市长是谁；以及文学生活如何起步、如何变化。",
            ),
        },
    ),
    "culture": Topic(
        category="Entertainment",
        asked={"festival": ("city", "month", "winner"), "club": ("city", "coach")},
        links={"festival": "winner", "club": "coach"},
        far={"born_in": ("mayor", "population"), "studied_at": ("founded",)},
        prompts={
            "en": (
                "Write a guide to {scene}: where and in which month each festival is held and who won it last, "
                "where the "
                "football clubs play and who coaches them; where these winners and coaches were born and studied, when "
                "their institutes were founded, who is the mayor of their home cities and how many people live there; "
                "and how the field began, changed and how many people it employs.",
                "Give an account of {scene} for a city council: festivals with place, month and latest winner, "
                "football "
                "clubs with city and head coach, the origins and education of these people, the mayors and populations "
                "of their home cities, the age of their institutes, and the development of the field.",
            ),
            "zh": (
                ""
                "请撰写一份关于{scene}的指南：各个节庆在哪座城市、哪个月份举办，最近一届由谁获胜；足球俱乐部位于哪座城市，主教练是谁；"
                ""
                "这些获胜者和教练出生于何地、就读于哪所院校，院校成立于何时，家乡城市的现任市长是谁、人口有多少；以及该领域的起步、变化和从业人数。",
            ),
        },
    ),
}
