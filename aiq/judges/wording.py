"""The prompts of judges: our templates, or the official ones from a user's checkout, which is parsed, never executed.

Text inserted into a prompt cannot forge the tags that enclose it.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Final

from aiq.core.errors import ConfigError
from aiq.core.files import resolve
from aiq.core.prompts import Prompts
from aiq.core.samples import Sample

PROMPTS: Final = Prompts(Path(__file__).parent / "prompts")
"""The judges' templates."""

_FENCE: Final = re.compile(r'fence\("(\w+)"\)')
_TAG: Final = re.compile(r"<([A-Za-z][\w-]*)>")


def language(sample: Sample) -> str:
    """`zh` for a Chinese task, else `en`."""
    code = sample.question.language or sample.tags.get("language") or "en"
    return "zh" if code.lower().startswith("zh") else "en"


@cache
def _tags(labels: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for the start of tags with these labels, or with one that our templates use as a fence."""
    fences = (label for source in PROMPTS.sources().values() for label in _FENCE.findall(source))
    return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(map(re.escape, (*fences, *labels)))})\b)", re.IGNORECASE)


def break_tags(text: str, labels: tuple[str, ...] = ()) -> str:
    """The text with every tag broken that looks like a fence of our templates or has one of these labels.

    `fence` itself protects a text only against its own label; a report could open another fence.
    """
    return _tags(labels).sub("< ", text)


@dataclass(frozen=True)
class OwnWording:
    """One of our templates, by file name."""

    template: str

    @property
    def source(self) -> str:
        """The template's text, for the prompt hash in every row."""
        return PROMPTS.source(self.template)

    def render(self, values: Mapping[str, str]) -> str:
        """The prompt filled with these values."""
        return PROMPTS.render(self.template, **{name: break_tags(value) for name, value in values.items()})


class TextWording:
    """A prompt in the syntax of `str.format`: places such as `{report}`, and doubled braces for literal ones.

    `places`: place -> the variable that fills it, if the names differ. Exactly these places must occur. Raises
    ConfigError, which begins with `where`.
    """

    def __init__(self, source: str, places: Mapping[str, str] | None = None, where: str = "a judge's prompt") -> None:
        try:
            parts = list(Formatter().parse(source))
        except ValueError as error:
            raise ConfigError(f"{where} is not a template: {error}") from None
        self.source = source
        fields = {(place, form, conversion) for _, place, form, conversion in parts if place is not None}
        self._places = dict(places or {place: place for place, _, _ in fields if place.isidentifier()})
        if fields != {(place, "", None) for place in self._places}:
            expected = ", ".join(f"{{{place}}}" for place in self._places)
            raise ConfigError(f"{where} must have the places {expected}, written exactly like this, and no others")
        self._labels = tuple(dict.fromkeys(_TAG.findall(source)))

    def render(self, values: Mapping[str, str]) -> str:
        """The filled prompt, stripped; in values, tags that imitate the prompt's own are broken."""
        filled = {place: break_tags(values[name], self._labels) for place, name in self._places.items()}
        return self.source.format(**filled).strip()


Wording = OwnWording | TextWording


def wordings(
    judge: str, template: str, official_dir: str | None, file: str, constant: str, places: Mapping[str, str]
) -> dict[str, Wording]:
    """A prompt of a judge by language of Deep Research Bench: ours, or the official one if there is a checkout.

    `file`, `constant`, `places`: the official prompt is a string assigned at the top level of a Python file.
    `{language}` becomes `en` or `zh`, `{suffix}` becomes `_en` or empty. Raises ConfigError if the checkout
    lacks the file or the constant, or its places differ.
    """

    def wording(lang: str) -> Wording:
        names = {"language": lang, "suffix": "_en" if lang == "en" else ""}
        if official_dir is None:
            return OwnWording(template.format(**names))
        path, name = resolve(official_dir) / file.format(**names), constant.format(**names)
        try:
            return TextWording(_constant(path, name), places, f"{name} in {path}")
        except ConfigError as error:
            raise ConfigError(
                f"{error}; judge.{judge}.official_dir={official_dir} must name a checkout of the official repository "
                "(or null, for the prompts that come with aiq)"
            ) from None

    return {lang: wording(lang) for lang in ("en", "zh")}


def _constant(path: Path, name: str) -> str:
    """The string assigned to `name` at the top level of a file; the last assignment counts, as in Python."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=path.name)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror})") from None
    except (SyntaxError, ValueError, RecursionError):
        raise ConfigError(f"{path} is not a Python file in UTF-8") from None
    assignments = [node for node in tree.body if isinstance(node, ast.Assign)]
    values = {target.id: node.value for node in assignments for target in node.targets if isinstance(target, ast.Name)}
    value = values.get(name)
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str) or not value.value.strip():
        raise ConfigError(f"{path} has no constant {name} that is a plain string")
    return value.value
