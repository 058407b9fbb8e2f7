"""A person who does the same acts by command line, over HTTP, and with the keys of the terminal."""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec
import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from planwire.journal import Journal, load_state, open_journal
from planwire.model.records import PlanRecord, SessionState
from planwire.steering.acts import ACTS, Gesture, On
from planwire.steering.plan_text import as_text
from planwire.steering.wanted import Wanted
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog
from planwire.terminal.rows import CLOSED, FOLD, PLAN, REMARK, STEP
from planwire.terminal.text_dialog import TextField
from planwire.terminal.watch_app import WatchApp
from tests.cli.answers import answer
from tests.terminal.watched import asked, closed, panel, record
from tests.waiting import eventually
from tests.web.board import running_board

__all__ = ["Act", "by_command_line", "by_http", "by_keys", "edited", "editor_script"]

SESSION = "s"


class Act(Protocol):
    """An act as a script has it: what is wanted of the plan as it is then."""

    def __call__(self, plan: PlanRecord) -> Wanted: ...


# -- the command line


def by_command_line(journal: Path, acts: Sequence[Act], editor: str) -> list[int]:
    """Do the acts with commands. Returns their exit codes."""
    return [answer(*_arguments(act(_plan(journal)), journal, editor), at_terminal=True).code for act in acts]


def _arguments(wanted: Wanted, journal: Path, editor: str) -> list[str]:
    target = wanted.target or ""
    own = {
        "tick": [target],
        "set_status": [target, wanted.status or ""],
        "reword": [target, wanted.text or ""],
        "add": [wanted.text or "", *([f"--after={wanted.after}"] if wanted.after else [])],
        "move": [target, "--up" if (wanted.by or 0) < 0 else "--down"],
        "remove": [target],
        "set_priority": [target, wanted.priority or ""],
        "comment": [wanted.text or "", *([f"--step={target}"] if target else []), *(["--keep"] if wanted.keep else [])],
        "review": ["--yes", *_answer(wanted), f"--comment={wanted.text}"],
        "select": ["--yes", *(wanted.steps or ())],
        "suggest": [f"--editor={editor}"],
        "withdraw": [target],
        "reopen": [target],
        "dismiss": ["--yes"],
        "tell": [wanted.text or ""],
        "stop": ["--yes"],
    }
    return [ACTS[wanted.act].command, *own[wanted.act], f"--journal={journal}", f"--session={SESSION}"]


def _answer(wanted: Wanted) -> list[str]:
    return [f"--option={wanted.option}"] if wanted.option else [] if wanted.verdict == "approved" else ["--changes"]


def _plan(journal: Path) -> PlanRecord:
    with open_journal(journal) as opened:
        [plan] = load_state(opened, SESSION).plans.values()
        return plan


# -- HTTP


def by_http(journal: Path, acts: Sequence[Act]) -> list[int]:
    """Do the acts with requests to a board. Returns the statuses of its answers."""
    with running_board(str(journal)) as board:
        answers = []
        for act in acts:
            plan = _plan(journal)
            wanted = replace(act(plan), seen=plan.revision)
            address = f"/sessions/{SESSION}/plans/{plan.state.plan.id}/acts"
            body = msgspec.json.encode(wanted)
            answer = board.client.post(
                address, content=body, headers={"content-type": "application/json", "origin": board.base}
            )
            answers.append(answer.status_code)
        return answers


# -- the terminal


async def by_keys(journal: Path, acts: Sequence[Act], monkeypatch: pytest.MonkeyPatch, editor: str) -> None:
    """Do the acts with the keys of `planwire watch`."""
    monkeypatch.setenv("VISUAL", editor)
    with open_journal(journal) as opened:
        app = WatchApp(opened, session=SESSION)
        monkeypatch.setattr(app, "suspend", nullcontext)  # there is no terminal here to give away
        async with app.run_test(size=(110, 40)) as pilot:
            await eventually(lambda: app.screen.is_mounted and panel(app).cursor.row is not None)
            for act in acts:
                [plan_id] = _state(app).plans
                wanted = act(record(app, SESSION, plan_id))
                before, can = opened.last_seq(SESSION), wanted.act in panel(app).sheet.cards[0].acts
                await _press(app, pilot, plan_id, wanted)
                await closed(app)
                if can:
                    await eventually(partial(_is_past, opened, before))
                await eventually(lambda: not app.writes.is_writing)
                await eventually(lambda: _state(app).seq == opened.last_seq(SESSION))
                await eventually(partial(_is_shown, app, plan_id))


def _state(app: WatchApp) -> SessionState:
    shown = app.sessions.get(SESSION)
    assert shown is not None
    return shown.journalled


def _is_shown(app: WatchApp, plan_id: str | None) -> bool:
    return record(app, SESSION, plan_id) == _state(app).plans[plan_id]


def _is_past(journal: Journal, seq: int) -> bool:
    return journal.last_seq(SESSION) > seq


def _gesture(wanted: Wanted) -> Gesture:
    """The key for an act: the one that stands for its arguments, or else the one that asks for them."""
    gestures = ACTS[wanted.act].gestures
    on = On.STEP if wanted.target or wanted.after else On.PLAN
    fit = [each for each in gestures if all(getattr(wanted, name) == of for name, of in each.arguments.items())]
    return next((each for each in fit if each.arguments or (each.on or on) is on), fit[0])


async def _press(app: WatchApp, pilot: "Pilot[None]", plan_id: str | None, wanted: Wanted) -> None:
    steps = panel(app)
    gesture = _gesture(wanted)
    named = wanted.after or wanted.target or (wanted.steps or ("",))[0]
    if wanted.act == "reopen":
        steps.sheet.unfold((FOLD, plan_id, CLOSED))
    if wanted.act in ("withdraw", "reopen"):
        steps.cursor.go(next(row for row in steps.cursor.rows if row[:3] == (REMARK, plan_id, named)))
    else:
        steps.cursor.go((STEP, plan_id, named) if named else (PLAN, plan_id))
    for step in wanted.steps or ():
        steps.toggle_mark(plan_id, step)
    await pilot.pause()
    await pilot.press({"Space": "space", "Delete": "delete"}.get(gesture.keys[0], gesture.keys[0]))
    if wanted.act not in steps.sheet.cards[0].acts:
        return
    if "status" in ACTS[wanted.act].needs and not gesture.arguments:
        await asked(app, ChoiceDialog)
        assert steps.step is not None
        await pilot.press(next(each.menu_key for each in steps.step.offers if each.status == wanted.status))
    if wanted.verdict is not None:
        await asked(app, ChoiceDialog)
        await pilot.press("a" if wanted.verdict == "approved" else "r")
    if wanted.option is not None:
        await asked(app, ChoiceDialog)
        question = steps.sheet.cards[0].question
        assert question is not None
        await pilot.press(str([each.id for each in question.options].index(wanted.option) + 1))
    if wanted.act in ("reword", "add", "comment", "review", "select", "tell"):
        await asked(app)
        app.screen.query_one(TextField).text = wanted.text or ""
        await pilot.pause()
        if wanted.keep:
            await pilot.press("ctrl+t")
        await pilot.press("enter")
    if wanted.act in ("dismiss", "stop") or (wanted.act == "remove" and not steps.sheet.cards[0].is_of_agent):
        await asked(app, DecisionDialog)
        await pilot.press("y")


def edited(plan: PlanRecord) -> str:
    """The text of a plan after the edit that `editor_script` makes."""
    return as_text(plan.state).replace("Mend it", "Mend all of it")


def editor_script(folder: Path) -> str:
    """An editor that rewords a step."""
    script = folder / "editor"
    script.write_text('#!/bin/sh\nsed -i "s/Mend it/Mend all of it/" "$1"\n')
    script.chmod(0o755)
    return os.fspath(script)
