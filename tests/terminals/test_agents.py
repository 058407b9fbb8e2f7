"""Agents start in a terminal and on a command line, and their requests can be read."""

from pathlib import Path

import pytest

from tests.peers.model_server import ScriptedModel
from tests.peers.script import say
from tests.terminals.agents import AGENTS

pytestmark = pytest.mark.agents


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_answers_a_prompt_on_its_command_line(name: str, tmp_path: Path) -> None:
    with ScriptedModel([say("Four sides.")]) as model:
        done = AGENTS[name](model.url, tmp_path).headless("How many sides has a square?")
        assert "Four sides." in done.stdout, done
        assert "How many sides has a square?" in model.main[0].text
