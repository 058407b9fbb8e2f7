"""A new act is a row of the table: commands, requests and the terminal do it without knowing it."""

import asyncio
from pathlib import Path

import pytest

from planwire.steering import commands
from planwire.steering.acts import ACTS, Act, Gesture, On
from planwire.steering.conflict import Touches
from planwire.steering.target import Decision, Target
from planwire.steering.wanted import Wanted
from planwire.terminal.session_screen import SessionScreen
from planwire.terminal.text_dialog import TextField
from tests.cli.answers import answer
from tests.terminal.watched import OURS, asked, closed, ours, ready, texts, two_plans, watching
from tests.waiting import eventually


def flag(on: Target, wanted: Wanted) -> Decision:
    """A remark before the text of a step."""
    text = f"{wanted.text}: {on.step(wanted.target).content}"
    return commands.reword(on, Wanted("reword", wanted.target, text=text))


FLAG = Act(
    *("flag", "flag", "Flag", "Put a remark before a step", flag, On.STEP, Touches.STEP),
    needs=("text",),
    gestures=(Gesture(("F",), "Flag", "put a remark before it"),),
)


@pytest.mark.usefixtures("prompt_pilot")
def test_a_new_act_is_a_row_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ACTS, "flag", FLAG)
    journal = two_plans(tmp_path)
    command = "flag", "s1", "by command", "--journal", str(journal), "--session", OURS
    assert answer(*command).code == 2  # it passes the same gate
    assert answer(*command, at_terminal=True).code == 0

    async def with_keys() -> list[str]:
        async with watching(journal, OURS) as (app, pilot):
            await ready(app)
            assert isinstance(app.screen, SessionScreen)
            app.screen.acts.do("flag")
            await asked(app)
            app.screen.query_one(TextField).text = "with keys"
            await pilot.press("enter")
            await closed(app)
            await eventually(lambda: texts(ours(app))[1].startswith("with keys"))
            return texts(ours(app))

    [first, second, *_] = asyncio.run(with_keys())
    assert (first, second) == ("by command: Read the code", "with keys: Write a test")
