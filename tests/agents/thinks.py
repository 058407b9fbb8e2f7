"""An agent that reads a prompt, thinks until a file is there (20 seconds at most), and answers: more input or not."""

import sys
import time
from pathlib import Path

THOUGHT = Path(sys.argv[1])

print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}', flush=True)
print('{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}', flush=True)
while "session/prompt" not in sys.stdin.readline():
    pass
sys.stdin.read()
end = time.monotonic() + 20
while not THOUGHT.exists() and time.monotonic() < end:
    time.sleep(0.01)
print('{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}', flush=True)
