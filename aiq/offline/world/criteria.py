"""The weighted criteria of a research task, in the task's language and about its contents."""

from typing import Any

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import World
from aiq.offline.world.scenes import members
from aiq.offline.world.tasks import Task

_DIMENSION_WEIGHTS = ((30, 35, 20, 15), (32, 33, 21, 14), (28, 38, 20, 14), (35, 30, 22, 13))
_DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
_WEIGHTS = {3: ((40, 35, 25), (50, 30, 20)), 4: ((30, 30, 20, 20), (35, 25, 25, 15))}

_CRITERIA = {
    "en": {
        "comprehensiveness": (
            ("Coverage of the members", "Whether the report covers all that belong here: {names}."),
            (
                "Facts about each member",
                "Whether it gives, for each of them, the particulars that the task asks for, with exact names, "
                "years and figures.",
            ),
            (
                "People and their origins",
                "Whether it says where the people behind them were born and at which institutes they studied.",
            ),
            (
                "Background beyond the first step",
                "Whether it follows the trail to the institutes and cities that stand behind these people, such "
                "as {far}.",
            ),
        ),
        "insight": (
            (
                "Comparison",
                "Whether the report compares the members of {scene} with each other in size or age and says what "
                "stands out.",
            ),
            (
                "Change over time",
                "Whether it explains how {scene} began, what the reform of {turned} changed, and how the number "
                "of people at work has developed.",
            ),
            (
                "Care with dates",
                "Whether it prefers recent figures to old ones, gives the date of changing figures, and points "
                "out where sources disagree.",
            ),
            (
                "Links between the parts",
                "Whether it shows patterns, such as shared cities or institutes, instead of listing facts.",
            ),
        ),
        "instruction_following": (
            (
                "All parts of the question",
                "Whether every part of the task is answered, in particular those named last.",
            ),
            ("Scope", "Whether the report stays with {scene} and does not drift to other regions or to namesakes."),
            ("Evidence", "Whether statements are backed by sources that are cited where they are made."),
        ),
        "readability": (
            ("Structure", "Whether headings and paragraphs lead through the report in a sensible order."),
            (
                "Plain language",
                "Whether sentences are clear, names are spelled alike throughout, and nothing is repeated.",
            ),
            (
                "Use of figures",
                "Whether figures stand where they are needed, with unit and date, and can be compared at a glance.",
            ),
        ),
    },
    "zh": {
        "comprehensiveness": (
            ("对象覆盖", "报告是否覆盖了所有相关对象：{names}。"),
            ("各对象的事实", "报告是否对每个对象都给出任务所要求的具体信息，包括准确的名称、年份和数字。"),
            ("人物及其来历", "报告是否说明相关人物出生于何地、就读于哪所院校。"),
            ("更深一层的背景", "报告是否进一步查明这些人物背后的院校和城市，例如{far}。"),
        ),
        "insight": (
            ("比较分析", "报告是否比较了{scene}各对象的规模或历史，并指出突出之处。"),
            ("时间变化", "报告是否解释{scene}如何起步、{turned}年的改革改变了什么，以及从业人数如何变化。"),
            ("对日期的谨慎", "报告是否优先采用较新的数据，标明变动数据的日期，并指出资料之间的矛盾。"),
            ("各部分的联系", "报告是否揭示共同的城市或院校等规律，而不是罗列事实。"),
        ),
        "instruction_following": (
            ("回答所有问题", "任务的每一部分是否都得到回答，尤其是最后提到的部分。"),
            ("范围", "报告是否紧扣{scene}，没有偏离到其他地区或同名对象。"),
            ("证据", "陈述是否在出现之处引用了来源。"),
        ),
        "readability": (
            ("结构", "标题和段落是否以合理的顺序引导读者。"),
            ("语言", "句子是否清楚，名称前后是否一致，有无重复。"),
            ("数字的使用", "数字是否出现在需要之处，带有单位和日期，便于比较。"),
        ),
    },
}


def criteria_row(world: World, task: Task) -> dict[str, Any]:
    """One line of `criteria.jsonl`; all weights are hundredths and each set sums to 1."""
    draw = Draw(world.seed, "criteria", task.scene.id)
    words = _words(world, task)
    shares = draw.pick(_DIMENSION_WEIGHTS)
    return {
        "id": task.id,
        "prompt": task.prompt,
        "dimension_weight": {name: share / 100 for name, share in zip(_DIMENSIONS, shares, strict=True)},
        "criterions": {
            dimension: [
                {"criterion": criterion, "explanation": explanation.format(**words), "weight": weight / 100}
                for (criterion, explanation), weight in zip(rows, draw.pick(_WEIGHTS[len(rows)]), strict=True)
            ]
            for dimension, rows in _CRITERIA[task.language].items()
        },
    }


def _words(world: World, task: Task) -> dict[str, str]:
    comma = "、" if task.language == "zh" else ", "
    far = [step.fact.subject for step in task.steps if step.depth == 3]
    return {
        "names": comma.join(entity.name.text(task.language) for entity in members(task.region, task.scene)),
        "far": comma.join(dict.fromkeys(entity.name.text(task.language) for entity in far[:3])),
        "scene": task.scene.name.text(task.language),
        "turned": str(world.fact(task.scene, "turned").value),
    }
