"""Writes one line of many megabytes, and one short line behind it."""

import os
import sys

megabytes = int(sys.argv[1])
os.write(1, b'{"jsonrpc":"2.0","id":"x","text":"')
for _ in range(megabytes):
    view = memoryview(b'"plan' * (1 << 18))[: 1 << 20]
    while view:
        view = view[os.write(1, view) :]
os.write(1, b'"}\n{"short":true}\n')
