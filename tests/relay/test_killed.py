"""A relay that is killed again and again while a person speaks: every word arrives, none twice without saying so."""

import json
import random
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from planwire.journal import open_journal
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.agents.driving import SOON, Relayed
from tests.waiting import until
from tests.wire import JSON, entry, request

pytestmark = [pytest.mark.torture, pytest.mark.timeout(300)]

ROUNDS = 60
STEPS: JSON = {"sessionUpdate": "plan", "entries": [entry("Read")]}
WORD = re.compile(r'<comment id="r\d+" by="user" plan="Plan"( said-before="perhaps")?>(word \d+)</comment>')


def blocks(memory: Path) -> list[str]:
    """The texts that the agent was told besides its prompts, in order."""
    said = [json.loads(line) for line in memory.read_text().splitlines()]
    texts = [str(each["content"]["text"]) for each in said if each["sessionUpdate"] == "user_message_chunk"]
    return [text for text in texts if text.startswith("<planwire-context")]


def test_every_word_arrives_and_none_twice_without_saying_so(tmp_path: Path) -> None:
    path, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    moments = random.Random(12)
    with Relayed("scripted.py", str(memory), journal=path) as relayed:
        session = relayed.begin()
        relayed.prompt(session, STEPS)
        assert relayed.end() == (0, "")
    with open_journal(path) as journal:
        for number in range(ROUNDS):
            with Relayed("scripted.py", str(memory), journal=path) as relayed:
                relayed.ask("initialize", protocolVersion=1)
                relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])
                steer(journal, session, None, Wanted("comment", text=f"word {number}"))
                prompt = [{"type": "text", "text": "Go on."}]
                relayed.write(request("session/prompt", "p", sessionId=session, prompt=prompt) + b"\n")
                with suppress(subprocess.TimeoutExpired):  # it is killed at any moment
                    relayed.process.wait(moments.random() / 20)
                relayed.process.kill()
                relayed.process.wait(SOON)
    with Relayed("scripted.py", str(memory), journal=path) as relayed:
        relayed.ask("initialize", protocolVersion=1)
        relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])
        until(lambda: relayed.prompt(session) is not None and f"word {ROUNDS - 1}<" in memory.read_text())
        assert relayed.end() == (0, "")
    heard: list[str] = []
    for block in blocks(memory):
        for perhaps, word in WORD.findall(block):
            if "This session was resumed." not in block:  # that one tells all that holds
                assert perhaps or word not in heard, (word, block)
            heard.append(word)
    assert set(heard) == {f"word {number}" for number in range(ROUNDS)}
