"""How templates are read: everything escaped, nothing undefined."""

from pathlib import Path
from typing import Any

from aiq.site.markdown import is_web_link

TEMPLATES = Path(__file__).parent / "templates"


def environment() -> Any:
    """The templates of this folder; `trusted` passes our own style and what `render` has made safe."""
    import jinja2
    from markupsafe import Markup

    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["trusted"] = Markup
    found.tests["web_link"] = is_web_link
    return found


def style(*names: str) -> str:
    """Style sheets of the folder as one."""
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
