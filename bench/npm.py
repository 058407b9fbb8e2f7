"""The npm SDK as a peer, where Node and npm are at hand. It is installed once, into the user's cache folder.

Node runs as one process of its own, so it can't take turns with the Python contenders; it times itself in the same way.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.lines import LINES
from bench.progress import say
from bench.proof import prove, without_bad_entries
from tests.availability import Unavailable
from tests.peers.install import NPM_SDK_NODE, node, npm_sdk

__all__ = ["npm_times"]

SCRIPT = Path(__file__).with_name("npm_sdk.mjs")


def npm_times(seconds: float) -> dict[str, float]:
    """Microseconds per message, by names such as `npm_decode_20` and `npm_encode_20`."""
    program, folder = node(NPM_SDK_NODE), npm_sdk()
    say(f"npm SDK, about {seconds:.0f} s")
    task = {
        "folder": str(folder),
        "seconds": seconds,
        "lines": {name: line.decode() for name, line in LINES.items()},
    }
    try:
        done = subprocess.run(
            [program, str(SCRIPT)],
            check=False,
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=seconds * 4 + 30,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unavailable(f"node: {problem}") from None
    if done.returncode:
        raise Unavailable(f"node: {_gist(done.stderr)}")
    answer = json.loads(done.stdout)
    _prove(answer["decoded"], answer["encoded"])
    return {f"npm_{name}": float(value) for name, value in answer["microseconds"].items()}


def _gist(text: str) -> str:
    """The line that says most: the first that names an error, or else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "rror" in line), lines[-1] if lines else "it failed without a word")


def _prove(decoded: Mapping[str, Any], encoded: Mapping[str, str]) -> None:
    prove(set(decoded), set(LINES), "lines that the npm SDK read")
    for name, line in LINES.items():
        message = json.loads(line)
        sent, update = message["params"]["update"], decoded[name]
        plan, read = sent.get("plan", sent), update.get("plan", update)
        if "entries" in plan:
            prove(read["entries"], without_bad_entries(plan["entries"]), f"the npm SDK reading {name}")
        else:
            prove(update, sent, f"the npm SDK reading {name}")
        prove(json.loads(encoded[name])["params"]["update"], update, f"the npm SDK writing {name}")
