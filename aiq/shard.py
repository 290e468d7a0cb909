"""The process of a shard: `aiq run resume=RUN shard=K/N`, which stops when its stdin is closed.

The process that started it holds the other end, and may be killed at any moment.
"""

import os
import signal
import sys
import threading

from aiq.__main__ import main


def stop_with_starter() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=stop_with_starter, daemon=True).start()
    folder, shard = sys.argv[1:]
    sys.exit(main(["run", f"resume={folder}", f"shard={shard}", "runner.progress=false"]))
