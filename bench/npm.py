"""The npm SDK as a peer, where Node and npm are at hand. It is installed once, into the user's cache folder.

Node runs as one process of its own, so it can't take turns with the Python contenders; it times itself in the same way.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.lines import LINES
from bench.progress import say
from bench.proof import prove, without_bad_entries

__all__ = ["Unavailable", "npm_times"]

PACKAGES = {"@agentclientprotocol/sdk": "2.4.0", "zod": "4.6.7"}
OLDEST_NODE = 18
INSTALL_SECONDS = 180
SCRIPT = Path(__file__).with_name("npm_sdk.mjs")


class Unavailable(Exception):
    """The npm SDK can't be timed here, and why."""


def npm_times(seconds: float) -> dict[str, float]:
    """Microseconds a message, by names such as `npm_decode_20` and `npm_encode_20`."""
    node = _node()
    folder = _installed()
    say(f"npm SDK, about {seconds:.0f} s")
    task = {
        "folder": str(folder),
        "seconds": seconds,
        "lines": {name: line.decode() for name, line in LINES.items()},
    }
    try:
        done = subprocess.run(
            [node, str(SCRIPT)],
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


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        raise Unavailable("there is no node")
    try:
        version = subprocess.run(
            [node, "--version"], check=True, capture_output=True, text=True, timeout=30
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as problem:
        raise Unavailable(f"node: {problem}") from None
    major = re.match(r"v(\d+)\.", version)
    if major is None or int(major[1]) < OLDEST_NODE:
        raise Unavailable(f"node is {version or 'of no known version'}, and {OLDEST_NODE} is needed")
    return node


def _installed() -> Path:
    """The folder that the packages are installed in, which they are now at the latest."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache) / "planwire" / "npm"
    if _versions(folder) == PACKAGES:
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("there is no npm")
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    say(f"npm: installing {' and '.join(wanted)} into the cache")
    quietly = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retries=1"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [npm, "install", "--prefix", str(folder), *quietly, *wanted],
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unavailable(f"npm install: {problem}") from None
    if done.returncode or _versions(folder) != PACKAGES:
        raise Unavailable(f"npm install: {_gist(done.stderr)}")
    return folder


def _versions(folder: Path) -> dict[str, str]:
    manifests = {name: folder / "node_modules" / name / "package.json" for name in PACKAGES}
    try:
        return {name: json.loads(path.read_text())["version"] for name, path in manifests.items()}
    except (OSError, ValueError, KeyError):  # nothing there, or an install that was interrupted
        return {}


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
