"""Which hooks Codex trusts. Codex silently skips every hook that a person has not trusted; its app-server knows which.

Trust covers the hooks and everything else in the plugin's folder: after a change to any file, Codex asks again.
"""

import json
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, Final

from planwire import __version__
from planwire.hooks.plugin import NAME

_SECONDS: Final = 30
_GRACE: Final = 5
_LIST: Final = 2


def untrusted_hooks(program: str, folder: Path) -> tuple[int, int] | None:
    """How many of our hooks Codex would not run, and how many it has; None if it does not say."""
    client = {"name": NAME, "title": NAME, "version": __version__}
    said = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": client}},
        {"method": "initialized"},
        {"id": _LIST, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
    )
    hooks = [each for each in _answered(program, said) if str(each.get("key", "")).startswith(f"{NAME}@{NAME}:")]
    if not hooks:
        return None
    return sum(each.get("trustStatus") != "trusted" or not each.get("enabled", True) for each in hooks), len(hooks)


def _answered(program: str, said: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """The hooks in the answer of a Codex process that is started for this question and ended again."""
    spoken = b"".join(json.dumps(each).encode() + b"\n" for each in said)
    pipe = subprocess.PIPE
    try:
        codex = subprocess.Popen(  # noqa: S603  (the person's own Codex)
            [program, "app-server"], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )
    except OSError:
        return []
    timer = Timer(_SECONDS, codex.kill)
    timer.start()
    try:
        if codex.stdin and codex.stdout:
            codex.stdin.write(spoken)
            codex.stdin.flush()
            return list(_hooks_in(codex.stdout))
    except (OSError, ValueError):
        pass
    finally:
        _end(codex)
        timer.cancel()
    return []


def _end(codex: "subprocess.Popen[bytes]") -> None:
    """End Codex as a client would, by closing its streams: the process that npm starts is only Codex's parent."""
    for each in (codex.stdin, codex.stdout):
        if each:
            with suppress(OSError):
                each.close()
    try:
        codex.wait(_GRACE)
    except subprocess.TimeoutExpired:
        codex.kill()
        codex.wait()


def _hooks_in(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        answer = json.loads(line)
        if answer.get("id") == _LIST:
            for each in answer.get("result", {}).get("data", []):
                yield from each.get("hooks", [])
            return
