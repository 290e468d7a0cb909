"""Runs in a process of its own, in which nothing may be connected or looked up, by the settings of each as JSON."""

import json
import sys

from aiq.__main__ import main

seen: list[str] = []


def heard(event: str, args: tuple[object, ...]) -> None:
    if (event == "socket.connect" and getattr(args[0], "family", None) != 1) or event == "socket.getaddrinfo":
        seen.append(f"{event} {args}")


sys.addaudithook(heard)
for overrides in json.loads(sys.argv[1]):
    assert main(["run", *overrides]) == 0
assert seen == [], seen
