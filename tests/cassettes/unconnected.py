"""Do runs, whose overrides are given as JSON, in a process that must not connect or look anything up.

Prints "no network" if the kernel allows a namespace without one.
"""

import ctypes
import json
import sys

from aiq.__main__ import main

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000  # of <linux/sched.h>
seen: list[str] = []


def heard(event: str, args: tuple[object, ...]) -> None:
    if (event == "socket.connect" and getattr(args[0], "family", None) != 1) or event == "socket.getaddrinfo":
        seen.append(f"{event} {args}")


if not getattr(ctypes.CDLL(None), "unshare", lambda _: -1)(NEW_USER | NEW_NETWORK):
    print("no network")
sys.addaudithook(heard)
for overrides in json.loads(sys.argv[1]):
    assert main(["run", *overrides]) == 0
assert seen == [], seen
