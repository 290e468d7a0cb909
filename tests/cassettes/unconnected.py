"""Runs in a process of its own, in which nothing may be connected or looked up, by the settings of each as JSON.

Says "no network" where the kernel gives it a namespace without one.
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
