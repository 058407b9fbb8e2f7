"""Codex with planwire in it: its list and goal are kept, and told after a compaction; its plans wait for words."""

from pathlib import Path

import pytest

from tests.peers.plans import proposed_plan, update_plan
from tests.peers.script import Request, Turn, Usage, call, say
from tests.terminals.installed import Installed
from tests.terminals.model import terminal_model
from tests.terminals.tmux import Tmux

pytestmark = pytest.mark.agents

SMALL_CONTEXT = "model_context_window = 100000\nmodel_auto_compact_token_limit = 60000\n"
FULL = Usage(input=90_000)


def test_its_list_and_goal_are_kept_and_told_with_a_persons_words_within_the_turn_and_after_a_compaction(
    tmp_path: Path,
) -> None:
    with terminal_model([]) as model:
        codex = Installed("codex", model.url, tmp_path, more=SMALL_CONTEXT)

        def commented(_: Request) -> Turn:
            codex.run("comment", "Use the old fixture.", "--as", "Ana", "--yes")
            return update_plan("completed", "in_progress")

        model.add(
            update_plan("in_progress", "pending"),
            commented,
            call("create_goal", objective="Ship the parser"),
            Turn(calls=call("update_goal", status="complete").calls, usage=FULL),
            say("All done."),
        )
        assert "All done." in codex.agent.headless("Write a parser").stdout
        assert "Use the old fixture." not in model.main[1].text
        assert "Use the old fixture." in model.main[2].last_words
        after = model.main[4].text  # the compaction before it was asked for without tools
        assert "Plan updated" not in after
        for text in ("Read the config", "Ship the parser", "Use the old fixture."):
            assert text in after
        lists = {plan["id"]: [step["status"] for step in plan["steps"]] for plan in codex.session()["plans"]}
        assert lists == {"todos": ["completed", "in_progress"], "goal": ["completed"]}


def test_a_plan_of_plan_mode_is_revised_by_a_persons_words_in_the_same_turn(tmp_path: Path) -> None:
    script = [proposed_plan("# Parser\n\n- [ ] Rewrite everything"), proposed_plan("# Parser\n\n- [ ] Change one line")]
    with terminal_model(script) as model:
        codex = Installed("codex", model.url, tmp_path, "--review")
        with Tmux(codex.agent) as terminal:
            terminal.say("/plan")
            terminal.wait_for("Plan mode")
            terminal.say("Plan a parser")
            codex.wait_for_question("Rewrite everything")
            codex.run("approve", "--changes", "--comment", "Much smaller, please.", "--as", "Ana", "--yes")
            codex.wait_for_question("Change one line")
            assert "Much smaller, please." in model.main[1].last_words
            codex.run("approve", "--as", "Ana", "--yes")
            terminal.wait_for("Implement this plan?")
        plan = codex.wait_until_answered()
        assert plan["reviews"][-1]["verdict"] == "approved"
