"""Writes numbered lines as fast as they go, while it reads its own input; says at the end how much that was."""

import os
import sys
from threading import Thread

count = int(sys.argv[1])
read: list[int] = []


def listen() -> None:
    while chunk := os.read(0, 65536):
        read.append(len(chunk))


listener = Thread(target=listen)
listener.start()
out = sys.stdout.buffer
for number in range(count):
    out.write(b'{"jsonrpc":"2.0","method":"_flood","params":{"number":%d}}\n' % number)
out.flush()
listener.join()
out.write(b'{"read":%d}\n' % sum(read))
out.flush()
