"""Says the name of every signal that it is sent, and ends with the line `quit`."""

import os
import signal
import sys
from types import FrameType


def say(number: int, _frame: FrameType | None) -> None:
    os.write(1, signal.Signals(number).name.encode() + b"\n")


for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, say)
os.write(1, b"ready\n")
for line in sys.stdin:
    if line == "quit\n":
        break
