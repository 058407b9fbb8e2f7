"""Stands for another agent, which it runs: passes everything on, and keeps what goes in and out in a folder.

`tee.py FOLDER COMMAND …`
"""

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

folder, command = Path(sys.argv[1]), sys.argv[2:]
agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def pass_on(source: int, target: int, name: str) -> None:
    with (folder / name).open("ab", buffering=0) as kept:
        while chunk := os.read(source, 65536):
            kept.write(chunk)
            view = memoryview(chunk)
            while view:
                view = view[os.write(target, view) :]
    os.close(target)


assert agent.stdin is not None
assert agent.stdout is not None
Thread(target=pass_on, args=(0, agent.stdin.fileno(), "in"), daemon=True).start()
pass_on(agent.stdout.fileno(), 1, "out")
os._exit(agent.wait())  # the other thread may still wait for a word that nobody wants to hear
