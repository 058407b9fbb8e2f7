"""Peers from the package registries, installed once into a cache folder outside the repository.

`make test` installs them before the tests run (`python -m tests.peers.install`); tests that run without it install what
they need. The cache folder is `PLANWIRE_PEERS`, or `planwire/peers` in the user's cache.
"""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.availability import Unavailable, all_is_required

__all__ = [
    "axe_source",
    "codex_peer",
    "deepagents_python",
    "hermes_python",
    "installed",
    "node",
    "npm_packages",
    "npm_peers",
    "npm_sdk",
    "opencode_peer",
]

NPM_PEERS = {"@agentclientprotocol/claude-agent-acp": "0.99.0", "acpx": "0.19.1"}
NPM_PEERS_NODE = 20
NPM_SDK = {"@agentclientprotocol/sdk": "2.4.0", "zod": "4.6.7"}
NPM_SDK_NODE = 18
CODEX = {"@agentclientprotocol/codex-acp": "2.6.0", "@openai/codex": "0.166.0"}
AXE = {"axe-core": "4.11.0"}
OPENCODE = "1.2.27"  # later ones keep their list to themselves
#: What npm calls the processors, and of two builds the one for old ones too.
PROCESSORS = {"x86_64": "x64-baseline", "amd64": "x64-baseline", "aarch64": "arm64", "arm64": "arm64"}
INSTALL_SECONDS = 600
DONE = "done.json"

_failed: dict[str, str] = {}


def npm_peers() -> Path:
    """The folder with the agents and clients of npm."""
    return npm_packages(NPM_PEERS, NPM_PEERS_NODE)


def npm_sdk() -> Path:
    """The folder with npm's SDK of the protocol."""
    return npm_packages(NPM_SDK, NPM_SDK_NODE)


def axe_source() -> str:
    """The script that finds what people with disabilities can't use."""
    return (npm_packages(AXE, NPM_SDK_NODE) / "node_modules" / "axe-core" / "axe.min.js").read_text()


def codex_peer() -> Path:
    """The folder with codex-acp and Codex itself: large, so only the tests that need it install it."""
    return npm_packages(CODEX, NPM_PEERS_NODE)


def npm_packages(packages: Mapping[str, str], oldest_node: int, optional: bool = True) -> Path:
    """The folder whose `node_modules` holds these packages, by name and version, and what is optional to them."""
    node(oldest_node)
    npm = _program("npm")
    wanted = [f"{name}@{version}" for name, version in sorted(packages.items())]
    quietly = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retries=2"]
    if not optional:
        quietly.append("--omit=optional")

    def install(folder: Path) -> None:
        (folder / "package.json").write_text('{"private": true}\n')
        _run([npm, "install", "--prefix", str(folder), *quietly, *wanted], folder)

    return installed("npm", wanted, install)


def opencode_peer() -> Path:
    """The program of OpenCode: npm has one for each system, of 135 MB."""
    system, processor = platform.system().lower(), platform.machine().lower()
    package = f"opencode-{system}-{PROCESSORS.get(processor, processor)}"
    return npm_packages({package: OPENCODE}, NPM_PEERS_NODE) / "node_modules" / package / "bin" / "opencode"


def deepagents_python() -> Path:
    """The Python of an environment of its own that holds deepagents-acp."""
    return _python_with("deepagents")


def hermes_python() -> Path:
    """The Python of an environment of its own that holds hermes-agent: 240 MB, only for the tests that need it."""
    return _python_with("hermes")


def _python_with(name: str) -> Path:
    """The Python of an environment with what a file beside this one lists, every package and its version."""
    pins = Path(__file__).with_name(f"{name}.txt").read_text().split()

    def install(folder: Path) -> None:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], folder)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        _run([*pip, "install", "--quiet", "--no-deps", *pins], folder)

    python = f"{sys.base_exec_prefix} {sys.version_info.major}.{sys.version_info.minor}"
    return installed(name, [*pins, python], install) / "bin" / "python"


def node(oldest: int) -> str:
    """This machine's node, if it is new enough."""
    path = _program("node")
    said = _run([path, "--version"], Path()).strip()
    major = re.match(r"v(\d+)\.", said)
    if major is None or int(major[1]) < oldest:
        raise Unavailable(f"node is {said or 'of no known version'}, and {oldest} is needed")
    return path


def installed(name: str, pins: Sequence[str], install: Callable[[Path], None]) -> Path:
    """The folder for these very pins, installed now at the latest, by one process at a time."""
    key = hashlib.sha256("\n".join(pins).encode()).hexdigest()[:12]
    folder = _cache() / f"{name}-{key}"
    mark = json.dumps(list(pins))
    if _is_marked(folder, mark):
        return folder
    if folder.name in _failed:  # once is enough: the next test must not wait for it again
        raise Unavailable(_failed[folder.name])
    try:
        with _locked(folder.with_suffix(".lock")):
            if not _is_marked(folder, mark):
                _say(f"installing {name} peers, once: {' '.join(pins[:4])}{' …' if pins[4:] else ''}")
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                install(folder)
                unfinished = folder / f"{DONE}.new"
                unfinished.write_text(mark)
                unfinished.replace(folder / DONE)
    except (Unavailable, OSError) as problem:
        _failed[folder.name] = f"{name} peers: {problem}"
        raise Unavailable(_failed[folder.name]) from None
    return folder


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"there is no {name}, which peers from npm need")
    return found


def _cache() -> Path:
    given = os.environ.get("PLANWIRE_PEERS")
    if given:
        return Path(given).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "planwire" / "peers"


def _is_marked(folder: Path, mark: str) -> bool:
    try:
        return (folder / DONE).read_text() == mark
    except OSError:
        return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str], folder: Path) -> str:
    what = Path(command[0]).name
    try:
        done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Unavailable(f"{what}: {problem}") from None
    if done.returncode:
        raise Unavailable(f"{what}: {_gist(done.stderr)}")
    return done.stdout


def _gist(text: str) -> str:
    """The line that says most: the first that names an error, or else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "rror" in line), lines[-1] if lines else "it failed without a word")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _main() -> int:
    """Install peers, side by side: those of `make test`, and with `--all` the large ones of `make test-agents` too.
    Missing ones matter only where they are required."""
    peers: list[Callable[[], object]] = [npm_peers, npm_sdk, axe_source]
    if "--all" in sys.argv:
        from tests.peers.programs import PROGRAMS

        peers += [deepagents_python, codex_peer, opencode_peer, hermes_python, *PROGRAMS.values()]
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(peer) for peer in peers]
    missing = [problem for future in futures if (problem := future.exception()) is not None]
    for problem in missing:
        if not isinstance(problem, Unavailable):
            raise problem
        _say(f"without real peers: {problem}")
    return 1 if missing and all_is_required() else 0


if __name__ == "__main__":
    sys.exit(_main())
