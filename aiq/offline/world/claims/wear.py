"""Makes a plain page look like one from the web: menus, unrelated text around it, the damage that a PDF does."""

import re
from collections.abc import Sequence

from aiq.offline.world.draw import Draw

_MENUS = (
    "Skip to content\n\n[Home](https://site.example/) | [News](https://site.example/news) | [Search](https://site.example/q)",
    "*   [Sign in](https://site.example/in)\n*   [Subscribe](https://site.example/sub)\n*   [Topics](https://site.example/t)",
    "Menu\n\nMy account\n\nPrint this page\n\nShare on social media",
)
_FEET = (
    "We use cookies to improve your visit. [Accept](https://site.example/ok) [Settings](https://site.example/set)",
    "Related articles\n\n*   [Ten walks for the autumn](https://site.example/1)\n*   [What is new in 2025](https://site.example/2)",
    "© 2026 All rights reserved. 12 comments. Read 3,481 times.",
)


def worn(text: str, draw: Draw, others: Sequence[str]) -> str:
    """The page in one of several states; `others` are texts that may stand around it."""
    if draw.chance(55):
        count = draw.pick((1, 2, 4, 8, 16, 40))
        around = [draw.pick(others) for _ in range(count)]
        place = draw.below(count + 1)
        text = "\n\n".join([*around[:place], text, *around[place:]])
    if draw.chance(30):
        return as_pdf(text, draw)
    if draw.chance(60):
        return "\n\n".join((draw.pick(_MENUS), text, draw.pick(_FEET)))
    return text


def as_pdf(text: str, draw: Draw) -> str:
    """Lines broken at a fixed width, words cut at line ends, ligatures, footnote figures, a running head."""
    text = text.replace("fi", "ﬁ").replace("fl", "ﬂ")
    text = re.sub(r"(?<=[a-z]{4})(?=[.,] )", lambda _: str(draw.between(1, 48)) if draw.chance(12) else "", text)
    width = draw.between(46, 84)
    pages = []
    for number, paragraph in enumerate(text.split("\n\n"), 1):
        pages.append("\n".join(_lines(paragraph, width, draw)))
        if draw.chance(25):
            pages.append(f"{number}  Journal of Regional Studies {draw.between(2, 40)} ({draw.between(2018, 2026)})")
    return "\n\n".join(pages)


def _lines(paragraph: str, width: int, draw: Draw) -> list[str]:
    lines, line = [], ""
    for word in paragraph.split(" "):
        if len(line) + len(word) < width:
            line = f"{line} {word}" if line else word
        elif len(word) > 7 and word.isalpha() and word.isascii() and draw.chance(50):
            cut = draw.between(3, len(word) - 3)
            lines.append(f"{line} {word[:cut]}-")
            line = word[cut:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]
