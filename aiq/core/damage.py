"""The name of a damaged report: which task's report, damaged how and how much. The id that samples of it have."""

from typing import NamedTuple, Self

UNDAMAGED = "none"
"""The damage of a report that is as it was, at degree 0."""


class Damaged(NamedTuple):
    """`degree`: how much, in percent: of the sections, sentences or citations there are, or of the length added."""

    base: str
    damage: str
    degree: int

    @property
    def id(self) -> str:
        """As `7.numbers.50`."""
        return f"{self.base}.{self.damage}.{self.degree}"

    @property
    def tags(self) -> dict[str, str]:
        """The same as a sample's tags."""
        return {"base": self.base, "damage": self.damage, "degree": str(self.degree)}

    @classmethod
    def of(cls, sample_id: str) -> Self | None:
        """Read an id; None where it is of another form."""
        base, damage, degree = ["", "", *sample_id.rsplit(".", 2)][-3:]
        return cls(base, damage, int(degree)) if base and damage and degree.isascii() and degree.isdigit() else None
