"""The settings tables of the documentation: each stands between two comments that say of which config and section.

`<!-- settings: OVERRIDES: SECTION -->` and `<!-- end of settings -->`. `scripts/settings_tables.py` writes them anew
from `conf/` and the settings classes; `--check` only says which pages are not current, and exits with 1.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from aiq.core.plugins import load
from aiq.core.settings import RunSettings
from aiq.experiment.compose import config_of_options
from aiq.site.settings import section, table

DOCS = Path(__file__).resolve().parent.parent / "docs"
_TABLE = re.compile(r"(<!-- settings: ([^\n]*?): ([\w.]+) -->\n)(.*?)(<!-- end of settings -->)", re.DOTALL)


def current(text: str) -> str:
    """A page with its tables as they should be."""
    return _TABLE.sub(lambda found: f"{found[1]}{_table(found[2].split(), found[3])}\n{found[5]}", text)


def _table(overrides: list[str], place: str) -> str:
    config = config_of_options(overrides)
    for part in place.split("."):
        config = config[part]
    if "target" in config:
        return table(config, load(config["target"], place).Settings, place)
    kind = section(RunSettings.model_fields[place])
    assert kind is not None, place
    return table(config, kind, place)


def stale() -> Iterator[Path]:
    """The pages whose tables are not current."""
    return (page for page in sorted(DOCS.rglob("*.md")) if (text := page.read_text(encoding="utf-8")) != current(text))


def main() -> int:
    pages = list(stale())
    for page in pages:
        print(f"{page.relative_to(DOCS.parent)}: its settings tables are not current; run scripts/settings_tables.py")
        if "--check" not in sys.argv:
            page.write_text(current(page.read_text(encoding="utf-8")), encoding="utf-8")
            print("written anew")
    return 1 if pages and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
