"""Ends at once, and leaves a child behind that holds its output open."""

import subprocess
import sys

subprocess.Popen(
    [sys.executable, "-P", "-c", "import time; time.sleep(60)"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
)
print('{"ready":true}', flush=True)
