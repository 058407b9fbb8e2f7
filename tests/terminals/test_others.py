"""Gemini CLI, Qwen Code, OpenCode and Copilot CLI with planwire in them: a plan by its tools is kept in the agent's own
session, and told again in the next conversation turn after a compaction, or when the session goes on."""

from pathlib import Path

import pytest

from tests.peers.script import call, say
from tests.terminals.installed import Installed
from tests.terminals.model import terminal_model

pytestmark = pytest.mark.agents

ENTRIES = [{"content": "Read the config", "status": "completed"}, "Write the parser"]


@pytest.mark.parametrize("name", ["gemini", "qwen", "opencode", "copilot"])
def test_a_plan_by_the_tools_needs_no_dialog_and_is_kept(name: str, tmp_path: Path) -> None:
    with terminal_model([]) as model:
        installed = Installed(name, model.url, tmp_path)
        agent = installed.agent
        model.add(call(agent.called("set_plan"), entries=ENTRIES), say("The plan is made."))
        assert "The plan is made." in agent.headless("Write a parser").stdout
        assert '"new_steps"' in model.main[1].last_words.replace("\\", "")
    plan = installed.plan()
    assert [step["status"] for step in plan["steps"]] == ["completed", "pending"]
    assert installed.session()["title"] == "Write a parser"
