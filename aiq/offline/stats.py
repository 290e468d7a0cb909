"""What the offline stack was asked: counts that show how often anything was paid for."""

from collections import Counter
from typing import Any


class Stats:
    """Counts of requests since the start; `GET /stats` gives them."""

    def __init__(self) -> None:
        self._paths: Counter[str] = Counter()
        self._roles: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._sends: Counter[tuple[str, int]] = Counter()

    def request(self, path: str) -> None:
        self._paths[path] += 1

    def chat(self, role: str, digest: str, attempt: int) -> None:
        self._roles[role] += 1
        self._sends[digest, attempt] += 1

    def fault(self, name: str) -> None:
        self._faults[name] += 1

    def summary(self) -> dict[str, Any]:
        """`repeated`: chat requests that were the same as an earlier one, attempt included (paid for twice)."""
        return {
            "requests": sum(self._paths.values()),
            "paths": dict(sorted(self._paths.items())),
            "chat": sum(self._roles.values()),
            "roles": dict(sorted(self._roles.items())),
            "distinct": len(self._sends),
            "repeated": sum(count - 1 for count in self._sends.values()),
            "faults": dict(sorted(self._faults.items())),
        }
