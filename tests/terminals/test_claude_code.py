"""Claude Code in its terminal, with planwire in it: what it plans is kept, and what people say reaches its model."""

from pathlib import Path

import pytest

from tests.peers.script import Request, Turn, call, say
from tests.terminals.installed import Installed
from tests.terminals.model import terminal_model
from tests.terminals.tmux import Tmux

pytestmark = pytest.mark.agents

SET, UPDATE = (f"mcp__plugin_planwire_planwire__{name}" for name in ("set_plan", "update_plan"))


def test_a_plan_by_the_tools_is_kept_and_told_with_a_persons_words_within_the_turn_and_after_a_compaction(
    tmp_path: Path,
) -> None:
    with terminal_model([]) as model:
        claude = Installed("claude", model.url, tmp_path)
        readme = claude.agent.cwd / "README.md"
        readme.write_text("A parser.\n")

        def commented(_: Request) -> Turn:
            claude.run("comment", "Use the old fixture.", "--step", "s2", "--as", "Ana", "--yes")
            return call("Read", file_path=str(readme))

        model.add(
            call("ToolSearch", query=f"select:{SET},{UPDATE}", max_results=5),
            call(SET, entries=["Read the config", "Write the parser"]),
            call(UPDATE, steps={"s1": "completed"}),
            commented,
            say("The first step is done."),
        )
        with Tmux(claude.agent) as terminal:
            terminal.say("Write a parser")
            terminal.wait_for("The first step is done.")
            assert "Use the old fixture." not in model.main[3].text
            assert "Use the old fixture." in model.main[4].last_words
            [plan] = claude.session()["plans"]
            assert [step["status"] for step in plan["steps"]] == ["completed", "pending"]
            terminal.say("/compact")
            terminal.wait_for("Compacted")
            model.add(say("Now the second step."))
            terminal.say("Go on")
            terminal.wait_for("Now the second step.")
        after = model.main[-1].text
        assert "Read the config" in after
        assert "Use the old fixture." in after
