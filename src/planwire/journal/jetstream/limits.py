"""Settings of a stream that endanger its events. planwire sets no limits; the server's admin may."""

from typing import Any

_SECOND = 1_000_000_000


def losses(config: dict[str, Any]) -> list[str]:
    """The settings by which the server loses events or does not confirm them, each with how to correct it."""
    found = []
    drops_old = config.get("discard") != "new"
    if age := _limit(config, "max_age"):
        found.append(f"max_age deletes events after {age / _SECOND:,.0f} s (set it to 0)")
    count = _limit(config, "max_msgs_per_subject")
    if count and (drops_old or not config.get("discard_new_per_subject")):
        found.append(f"max_msgs_per_subject keeps only {count:,} appends of a session (set it to -1)")
    if drops_old:
        found += [
            f"{each} deletes the journal's oldest events (set it to -1, or discard to new)" for each in _full(config)
        ]
    if config.get("retention") not in {None, "limits"}:
        found.append(f"retention {config['retention']} deletes events that a consumer has taken (make another stream)")
    if config.get("storage") == "memory":
        found.append("storage memory loses all events when the server restarts (make another stream)")
    if config.get("persist_mode") == "async":
        found.append("persist_mode async confirms events before they are in a file (make another stream)")
    if config.get("subject_transform"):
        found.append("subject_transform stores events where planwire does not look for them (remove it)")
    if config.get("no_ack"):
        found.append("no_ack stops the server from confirming what it stored (set it to false)")
    if not (config.get("mirror") or config.get("sources")):
        ours = [f"{config.get('name')}.{each}.*" for each in ("events", "parts")]
        lacking = [each for each in ours if not _takes(config, each)]
        found += [f"its subjects lack {each}, so the server drops events (add it)" for each in lacking]
    return found


def bounds(config: dict[str, Any]) -> list[str]:
    """The limits at which the server refuses more events."""
    return _full(config) if config.get("discard") == "new" else []


def _takes(config: dict[str, Any], subjects: str) -> bool:
    """Whether a stream takes what is published on these subjects; `*` in them stands for any word."""
    wanted = subjects.split(".")
    return any(_covers(each.split("."), wanted) for each in config.get("subjects") or ())


def _covers(pattern: list[str], wanted: list[str]) -> bool:
    for each, word in zip(pattern, wanted, strict=False):
        if each == ">":
            return True
        if each not in {"*", word}:
            return False
    return len(pattern) == len(wanted)


def _full(config: dict[str, Any]) -> list[str]:
    """The limits at which a stream is full."""
    return [f"{name} {most:,}" for name in ("max_msgs", "max_bytes") if (most := _limit(config, name))]


def _limit(config: dict[str, Any], name: str) -> int:
    """A limit, or 0 for none."""
    return max(int(config.get(name) or 0), 0)
