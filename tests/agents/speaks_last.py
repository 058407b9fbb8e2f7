"""Says one thing more at the end of its input, and stays."""

import signal
import sys

print('{"ready":true}', flush=True)
sys.stdin.read()
print('{"last":true}', flush=True)
while True:
    signal.pause()
