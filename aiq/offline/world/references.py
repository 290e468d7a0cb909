"""The reference report of a research task: cited prose from the world's pages with about four facts in five."""

from collections.abc import Mapping, Sequence

from aiq.offline.world.addresses import entry_url, source_url
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, World
from aiq.offline.world.page import WorldPage
from aiq.offline.world.prose import LANGUAGES
from aiq.offline.world.relations import BY_KEY
from aiq.offline.world.say import say, sentence
from aiq.offline.world.scenes import members
from aiq.offline.world.tasks import Step, Task

_WORDS = {
    "en": {
        "scene": "Overview",
        "member": "The members in detail",
        "person": "The people behind them",
        "place": "Institutes and cities in the background",
        "assessment": "Assessment",
        "references": "References",
        "intro": "This report describes {scene}: its members, the people behind them, and how it has changed.",
        "list": "The members treated here are {names}.",
        "largest": (
            "Measured by the latest counts, {first} is the largest with {most}, and {last} the smallest with {least}."
        ),
        "oldest": (
            "Among those whose year of founding is known, {first} is the oldest ({most}) and {last} the youngest "
            "({least})."
        ),
        "shared": "Several of the people come from or studied in the same places, which points to a close network.",
        "caution": (
            "Figures change from year to year; older editions give other values, and the newest dated source was "
            "followed here."
        ),
        "outlook": (
            "After a slow beginning, {scene} was reshaped by the reform of {turned}, and it depends today on few "
            "people and few places."
        ),
    },
    "zh": {
        "scene": "概况",
        "member": "各个对象",
        "person": "相关人物",
        "place": "背后的院校与城市",
        "assessment": "评估",
        "references": "参考来源",
        "intro": "本报告介绍{scene}：有哪些对象，背后是哪些人，以及如何变化。",
        "list": "本报告涉及的对象有{names}。",
        "largest": "按最新统计，规模最大的是{first}（{most}），最小的是{last}（{least}）。",
        "oldest": "在已知成立年份的对象中，{first}最早（{most}年），{last}最晚（{least}年）。",
        "shared": "若干人物来自相同的城市或就读于相同的院校，说明彼此联系紧密。",
        "caution": "数字逐年变化，旧版资料给出不同的数值，本报告以日期最新的来源为准。",
        "outlook": "{scene}起步缓慢，{turned}年的改革使其面貌一新，如今仍依赖少数人和少数地方。",
    },
}
_KEPT = (True, True, True, True, False)


def reference_article(world: World, task: Task, pages: Mapping[str, WorldPage]) -> str:
    """Markdown with sections, inline `[n]` and a numbered list of the cited pages."""
    draw = Draw(world.seed, "reference", task.scene.id)
    kept = [step for index, step in enumerate(task.steps) if _KEPT[index % 5]]
    cited = _Citations(pages)
    words = _WORDS[task.language]
    scene = task.scene.name.text(task.language)
    blocks = [f"# {sentence(scene)}", words["intro"].format(scene=scene)]
    for section, kinds in _sections(task):
        paragraphs = _paragraphs(world, [step for step in kept if step.fact.subject.kind in kinds], task, cited, draw)
        if section == "scene":
            names = "、" if task.language == "zh" else ", "
            listed = names.join(entity.name.text(task.language) for entity in members(task.region, task.scene))
            paragraphs.append(words["list"].format(names=listed) + cited.mark(entry_url(task.scene), task.language))
        if paragraphs:
            blocks += [f"## {words[section]}", *paragraphs]
    turned = world.fact(task.scene, "turned").value
    closing = [
        *_comparisons(task, kept),
        words["shared"],
        words["caution"],
        words["outlook"].format(scene=sentence(scene) if task.language == "en" else scene, turned=turned),
    ]
    blocks += [f"## {words['assessment']}", _join(closing, task.language)]
    blocks += [f"## {words['references']}", "\n".join(cited.lines())]
    return "\n\n".join(blocks)


def _sections(task: Task) -> tuple[tuple[str, tuple[str, ...]], ...]:
    kinds = tuple(task.topic.asked)
    places = tuple(kind for kind in ("institute", "city") if kind not in kinds)
    return (("scene", ("scene",)), ("member", kinds), ("person", ("person",)), ("place", places))


def _paragraphs(world: World, steps: Sequence[Step], task: Task, cited: "_Citations", draw: Draw) -> list[str]:
    """One paragraph per subject, its facts in order, each sentence with its source."""
    prose = LANGUAGES[task.language]
    by_subject: dict[str, list[str]] = {}
    for step in steps:
        fact = step.fact
        day = max(world.page_dates[fact.subject.id], fact.changed)
        text = say(prose, prose.stated, fact, day, draw)
        mark = cited.mark(source_url(world, fact), task.language)
        end = text[-1]
        by_subject.setdefault(fact.subject.id, []).append(f"{text[:-1]}{mark}{end}")
    return [_join(sentences, task.language) for sentences in by_subject.values()]


def _comparisons(task: Task, kept: Sequence[Step]) -> list[str]:
    """Sentences that set the counts and the years of the kept facts side by side."""
    words, prose = _WORDS[task.language], LANGUAGES[task.language]
    sentences = []
    for form, relations, largest in (("largest", ("employees", "population"), True), ("oldest", ("founded",), False)):
        found: list[tuple[int, Entity]] = [
            (step.fact.value, step.fact.subject)
            for step in kept
            if step.fact.relation in relations and isinstance(step.fact.value, int)
        ]
        if len(found) > 1:
            found.sort(key=lambda pair: pair[0], reverse=largest)
            (most, first), (least, last) = found[0], found[-1]
            number = BY_KEY[first.kind, relations[0] if first.kind != "city" else relations[-1]].value == "number"
            sentences.append(
                words[form].format(
                    first=first.name.text(task.language),
                    last=last.name.text(task.language),
                    most=prose.value(most, number=number),
                    least=prose.value(least, number=number),
                )
            )
    return sentences


def _join(sentences: Sequence[str], language: str) -> str:
    return LANGUAGES[language].space.join(sentences)


class _Citations:
    """Numbers pages in the order in which they are first cited."""

    def __init__(self, pages: Mapping[str, WorldPage]) -> None:
        self._pages = pages
        self._numbers: dict[str, int] = {}

    def mark(self, url: str, language: str) -> str:
        number = self._numbers.setdefault(url, len(self._numbers) + 1)
        return f"[{number}]" if language == "zh" else f" [{number}]"

    def lines(self) -> list[str]:
        return [f"[{number}] {self._pages[url].title} - {url}" for url, number in self._numbers.items()]
