"""Payloads that the real agents gave their hooks, one file for each event: the payload, and the names of the variables
in the hook's environment."""

import json
from pathlib import Path
from typing import Any

__all__ = ["Payload", "payloads"]

Payload = dict[str, Any]


def payloads(agent: str) -> list[tuple[Payload, list[str]]]:
    """All payloads of an agent, each with the names of its environment."""
    files = sorted((Path(__file__).parent / agent).glob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [(line["payload"], line["environment"]) for line in lines]
