"""Says back what it is told, a byte at a time."""

import os

while chunk := os.read(0, 65536):
    for byte in chunk:
        os.write(1, bytes((byte,)))
