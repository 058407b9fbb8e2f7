"""Plans of Claude Code that wait for a person: approved with an edit or sent back from elsewhere, or decided in the
terminal, where the dialog is open all the while."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.peers.script import Request, Step, Turn, call, say
from tests.terminals.installed import Installed
from tests.terminals.model import terminal_model
from tests.terminals.tmux import Tmux
from tests.waiting import until

pytestmark = pytest.mark.agents

DIALOG = "Would you like to proceed?"


def drafted(text: str) -> Callable[[Request], Turn]:
    """A step that writes a plan into the file that Claude Code names."""

    def write(request: Request) -> Turn:
        path = re.findall(r"/[^\s`\"]+/\.claude/plans/[^\s`\"]+\.md", request.text)[-1]
        return call("Write", file_path=path, content=text)

    return write


def test_a_plan_is_sent_back_with_words_and_the_next_one_approved_with_an_edit(tmp_path: Path) -> None:
    script: list[Step] = [
        *(drafted("# Parser\n\n- [ ] Rewrite everything\n"), call("ExitPlanMode")),
        *(drafted("# Parser\n\n- [ ] Change one function\n"), call("ExitPlanMode")),
        say("I begin."),
    ]
    with terminal_model(script) as model:
        claude = Installed("claude", model.url, tmp_path, "--review")
        with Tmux(claude.agent, "--permission-mode", "plan") as terminal:
            terminal.say("Plan a parser")
            claude.wait_for_question("Rewrite everything")
            claude.run("approve", "--changes", "--comment", "Much smaller, please.", "--as", "Ana", "--yes")
            asked = claude.wait_for_question("Change one function")
            assert "Much smaller, please." in model.main[2].last_words
            edited = "# Parser\n\n- [ ] Change one function, and test it\n"
            claude.answer_on_board(asked, verdict="approved", edited=edited)
            terminal.wait_for("I begin.")
        assert "Change one function, and test it" in model.main[4].last_words
        plan = claude.wait_until_answered()
        assert plan["text"].strip() == edited.strip()
        assert plan["reviews"][-1]["verdict"] == "approved"
        until(lambda: not claude.waiting_hooks())


def test_the_terminal_answers_first_or_alone_if_the_hook_was_killed(tmp_path: Path) -> None:
    script: list[Step] = [
        *(drafted("# Parser\n\n- [ ] Rewrite everything\n"), call("ExitPlanMode"), say("I think again.")),
        *(drafted("# Parser\n\n- [ ] Change one function\n"), call("ExitPlanMode"), say("I begin.")),
    ]
    with terminal_model(script) as model:
        claude = Installed("claude", model.url, tmp_path, "--review")
        with Tmux(claude.agent, "--permission-mode", "plan") as terminal:
            terminal.say("Plan a parser")
            claude.wait_for_question("Rewrite everything")
            terminal.wait_for(DIALOG)
            terminal.choose("Escape")
            claude.wait_until_answered()
            until(lambda: not claude.waiting_hooks())
            terminal.say("Think again")
            terminal.wait_for("I think again.")
            terminal.say("Plan it smaller")
            claude.wait_for_question("Change one function")
            for hook in claude.waiting_hooks():
                os.kill(hook, signal.SIGKILL)
            terminal.wait_for(DIALOG)
            terminal.choose("Enter")
            terminal.wait_for("I begin.")
        plan = claude.wait_until_answered()
        assert plan["question"] is None or not plan["question"]["open"]
        assert "Change one function" in plan["text"]
