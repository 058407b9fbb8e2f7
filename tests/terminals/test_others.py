"""Gemini CLI, Qwen Code, OpenCode and Copilot CLI with planwire in them: a plan by its tools is kept in the agent's own
session, without a dialog, and told again after a compaction."""

from pathlib import Path

import pytest

from tests.peers.script import Request, Turn, Usage, call, say
from tests.terminals.installed import Installed
from tests.terminals.model import terminal_model
from tests.terminals.tmux import Tmux

pytestmark = pytest.mark.agents

ENTRIES = [{"content": "Read the config", "status": "completed"}, "Write the parser"]
MADE = "The plan is made."
#: Answers that make a compaction worthwhile, and repeat nothing: Gemini takes repetitions for a loop.
LONG = say(" ".join([*(f"Line {number} of the config is right." for number in range(200)), MADE]), Usage(20_000))
LONGER = say("And more.", Usage(40_000))
COMPACTED = "Your context was compacted."


@pytest.mark.parametrize("name", ["gemini", "qwen", "copilot"])
def test_a_plan_by_the_tools_is_kept_on_the_command_line(name: str, tmp_path: Path) -> None:
    with terminal_model([]) as model:
        installed = Installed(name, model.url, tmp_path)
        agent = installed.agent
        model.add(call(agent.called("set_plan"), entries=ENTRIES), say(MADE))
        assert MADE in agent.headless("Write a parser").stdout
    assert [step["status"] for step in installed.plan()["steps"]] == ["completed", "pending"]
    assert installed.session()["title"] == "Write a parser"


@pytest.mark.parametrize(
    ("name", "command", "done"),
    [
        ("gemini", "/compress", "Chat history compressed"),
        ("qwen", "/compress", "Chat history compressed"),
        ("copilot", "/compact", "Compaction completed"),
    ],
)
def test_a_plan_by_the_tools_is_told_after_a_compaction(name: str, command: str, done: str, tmp_path: Path) -> None:
    with terminal_model([]) as model:
        installed = Installed(name, model.url, tmp_path)
        tool = installed.agent.called("set_plan")

        def plan(_: Request) -> Turn:
            model.add(go_on)
            return call(tool, entries=ENTRIES)

        def go_on(request: Request) -> Turn:
            """Qwen takes prompts before the tools are there: then its model tries again."""
            if "still starting up" in request.last_words:
                return plan(request)
            model.add(LONGER)
            return LONG

        model.add(plan)
        with Tmux(installed.agent) as terminal:
            terminal.say("Write a parser")
            terminal.wait_for(MADE)
            terminal.say("And more")
            terminal.wait_for("And more.")
            terminal.say(command)
            terminal.wait_for(done)
            before = len(model.main)
            model.add(say("I go on."), say("I am done."))
            terminal.say("Go on")
            terminal.wait_for("I go on.")
            terminal.say("To the end")  # Qwen is told one request later than the others
            terminal.wait_for("I am done.")
        told = [request.text for request in model.main[before:] if COMPACTED in request.text]
        assert told
        assert "Write the parser" in told[0]


def test_opencode_keeps_a_plan_and_is_told_it_when_it_has_compacted_its_context(tmp_path: Path) -> None:
    with terminal_model([]) as model:
        opencode = Installed("opencode", model.url, tmp_path)
        made = call(opencode.agent.called("set_plan"), entries=ENTRIES)
        model.add(Turn(calls=made.calls, usage=Usage(127_000)), say("I go on."))
        assert "I go on." in opencode.agent.headless("Write a parser").stdout
        assert COMPACTED in model.main[1].text
        assert "Write the parser" in model.main[1].text
    assert [step["status"] for step in opencode.plan()["steps"]] == ["completed", "pending"]
