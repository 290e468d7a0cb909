"""A real offline stack in a child process, with a few pages of its own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import port_of_stack

PAGES: list[dict[str, str]] = [
    {
        "url": "https://atlas.offline.example/tessmark",
        "title": "Tessmark",
        "text": "Tessmark is a city in Orlune.\nAs of March 2026, the mayor of Tessmark is Ilan Corvey.",
        "published": "2026-03-14",
    },
    {
        "url": "https://news.offline.example/2024/mayor?id=7",
        "title": "A mayor <resigns> & more",
        "text": "In 2024 the mayor of Tessmark was Oda Prill.\n\n" + "The council met. " * 200,
        "published": "2024-02-01",
        "html_extra": "<table><tr><td>raw</td></tr></table>",
    },
    {
        "url": "https://baike.offline.example/沃伦",
        "title": "沃伦研究所",
        "text": "沃伦研究所位于泰斯马克市。截至2026年，所长是林岚。",
    },
    {"url": "https://my.site/mill?floor=2", "title": "Vorn Mill", "text": "Ada Kestrel built the second floor."},
]


@pytest.fixture(scope="session")
def pages_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("world") / "pages.jsonl"
    file.write_text("".join(json.dumps(page, ensure_ascii=False) + "\n" for page in PAGES), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def offline_port(pages_file: Path) -> Iterator[int]:
    """The port of one stack that all tests share."""
    yield from port_of_stack(pages_file)
