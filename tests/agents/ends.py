"""Says a last word on both streams, the one on its output without a line feed, and ends with a code or by a signal."""

import os
import sys

how = int(sys.argv[1])
print("a word on the error stream", file=sys.stderr, flush=True)
print("a last word", end="", flush=True)
if how < 0:
    os.kill(os.getpid(), -how)
sys.exit(how)
