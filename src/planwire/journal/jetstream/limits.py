"""What the settings of a stream make of the events in it. planwire sets no limit; who runs the server may."""

from typing import Any

__all__ = ["bounds", "losses"]

_SECOND = 1_000_000_000


def losses(config: dict[str, Any]) -> list[str]:
    """The settings by which the server does not keep events, or does not say that it does, and how to mend each."""
    found = []
    drops_old = config.get("discard") != "new"
    if age := _limit(config, "max_age"):
        found.append(f"max_age deletes events after {age / _SECOND:,.0f} s (set it to 0)")
    if count := _limit(config, "max_msgs_per_subject"):
        if drops_old or not config.get("discard_new_per_subject"):
            found.append(f"max_msgs_per_subject keeps only {count:,} appends of a session (set it to -1)")
    if drops_old:
        found += [
            f"{each} deletes the oldest events of all (set it to -1, or discard to new)" for each in _full(config)
        ]
    if config.get("retention") not in {None, "limits"}:
        found.append(f"retention {config['retention']} deletes events that a consumer took (make another stream)")
    if config.get("storage") == "memory":
        found.append("storage memory loses all events with a restart of the server (make another stream)")
    if config.get("subject_transform"):
        found.append("subject_transform keeps events where nobody looks for them (remove it)")
    if config.get("no_ack"):
        found.append("no_ack keeps the server from saying what it has (set it to false)")
    return found


def bounds(config: dict[str, Any]) -> list[str]:
    """The limits from which on the server refuses more."""
    return _full(config) if config.get("discard") == "new" else []


def _full(config: dict[str, Any]) -> list[str]:
    """The limits at which a stream is full."""
    return [f"{name} {most:,}" for name in ("max_msgs", "max_bytes") if (most := _limit(config, name))]


def _limit(config: dict[str, Any], name: str) -> int:
    """A limit; 0 if there is none."""
    return max(int(config.get(name) or 0), 0)
