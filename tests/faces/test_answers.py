"""An agent that asks, behind a real relay: answered, told and stopped from the command line and in the terminal."""

import json
import re
import subprocess
from asyncio import to_thread
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planwire.journal import load_state, open_journal
from planwire.model.records import PlanRecord, SessionState
from planwire.own_process import own_command
from planwire.terminal.dialogs import ChoiceDialog, DecisionDialog
from planwire.terminal.watch_app import WatchApp
from tests.agents.driving import Relayed
from tests.cli.answers import answer
from tests.terminal.watched import asked, closed, on_a_loop, panel, shows, watching
from tests.waiting import eventually, until
from tests.wire import JSON, request

SESSION = "s1"


class Asking:
    """The agent that asks, its client, and the journal between them."""

    def __init__(self, journal: Path, *arguments: str) -> None:
        self.journal = journal
        self.relay = Relayed("proposes.py", *arguments, journal=journal)

    def begin(self, prompt: str) -> None:
        self.relay.begin()
        self.prompt(prompt)

    def prompt(self, text: str) -> None:
        blocks = [{"type": "text", "text": text}]
        self.relay.write(request("session/prompt", text, sessionId=SESSION, prompt=blocks) + b"\n")

    def client_gets(self, **wanted: Any) -> JSON:
        """The next message for the client that has these members."""
        while True:
            message: JSON = json.loads(self.relay.line())
            if all(message.get(name) == value for name, value in wanted.items()):
                return message

    def client_hears(self, *words: str) -> None:
        """Wait for messages of the agent or the user with these words."""
        for each in words:
            while each not in json.dumps(self.client_gets(method="session/update")["params"], ensure_ascii=False):
                pass

    @property
    def state(self) -> SessionState:
        with open_journal(self.journal) as journal:
            return load_state(journal, SESSION)

    @property
    def plan(self) -> PlanRecord:
        [plan] = self.state.plans.values()
        return plan

    def is_working(self) -> bool:
        with open_journal(self.journal) as journal:
            return any(each.terms.is_working for each in journal.leases())

    def rests(self, turns: int) -> bool:
        """Whether it has ended so many turns, and works on no other."""
        return self.state.turns == turns and not self.is_working()

    def asks(self) -> None:
        """Wait until the journal has its question."""
        until(lambda: self.state.needs_person)

    def command(self, *arguments: str, code: int = 0) -> str:
        who = () if arguments[0] == "show" else ("--as", "me", "--yes")
        ran = answer(*arguments, *who, "--journal", str(self.journal))
        assert ran.code == code, ran
        return ran.err if code else ran.out


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Asking]:
    made = Asking(tmp_path / "journal.db")
    with made.relay:
        yield made


@pytest.fixture
def choosy(tmp_path: Path) -> Iterator[Asking]:
    made = Asking(tmp_path / "journal.db", "choosy")
    with made.relay:
        yield made


def test_a_command_answers_the_question_that_the_editor_shows(asking: Asking) -> None:
    asking.begin("plan")
    asking.client_gets(method="session/request_permission")
    asking.asks()
    command = [*own_command(), "approve", "--as", "me", "--yes", "--journal", str(asking.journal)]
    said = subprocess.run([*command, SESSION], capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.endswith("\nApproved. Queued for the agent: “Yes”.\n")
    asking.client_hears("answer: yes")
    until(lambda: asking.plan.reviews[-1].told is not None)
    assert re.search("just now · (Delivered|Seen) just now", asking.command("show", SESSION)) is not None
    assert asking.command("approve", SESSION, "--option", "no", code=1).startswith("planwire: the answer was not sent")
    asking.relay.write(json.dumps({"jsonrpc": "2.0", "id": "ask-1", "result": LATE_NO}).encode() + b"\n")
    asking.client_hears("your answer “No” came too late")
    asking.asks()
    shown = asking.command("show", SESSION)
    assert (
        "The agent goes on with “Yes”, as me (by a script) answered. Someone in the editor answered “No”, too" in shown
    )
    assert "planwire approve s1 --changes --now" in shown
    asking.command("approve", SESSION)
    assert not asking.state.needs_person


LATE_NO = {"outcome": {"outcome": "selected", "optionId": "no"}}


def test_a_command_names_the_options_if_plain_approve_is_none_of_them(choosy: Asking) -> None:
    choosy.begin("plan")
    choosy.asks()
    refused = choosy.command("approve", SESSION, code=2)
    assert "pass --option with one of 'edits' (Yes, accept edits), 'ask' (Yes, ask me)" in refused
    said = json.loads(choosy.command("approve", SESSION, "--option", "yes, ASK me", "--json"))
    assert (said["done"], said["answer"]) == (True, "ask")
    choosy.client_hears("answer: ask")


def test_commands_tell_an_agent_now_and_stop_it(asking: Asking) -> None:
    asking.begin("plan")
    asking.asks()
    asking.command("approve", SESSION, "--changes")
    until(lambda: asking.rests(1))
    assert "hears it now" in asking.command("tell", "use tabs", "--session", SESSION)
    asking.client_hears("me (planwire): use tabs")
    until(lambda: asking.rests(2))
    assert asking.command("tell", "--session", SESSION) == "Nothing to tell: the agent has heard everything.\n"
    asking.prompt("slow")
    until(asking.is_working)
    assert "--interrupt" in asking.command("comment", "no, spaces", "--now", "--session", SESSION, code=1)
    asking.command("comment", "no, spaces", "--interrupt", "--session", SESSION)
    assert asking.client_gets(id="slow")["result"]["stopReason"] == "cancelled"
    asking.client_hears("me (planwire): no, spaces")
    until(lambda: asking.rests(4))
    asking.prompt("slow")
    until(asking.is_working)
    assert asking.command("stop", SESSION) == "The agent is told to stop.\n"
    assert asking.client_gets(id="slow")["result"]["stopReason"] == "cancelled"
    until(lambda: asking.rests(5) and asking.state.stopped == "cancelled")
    assert asking.command("stop", SESSION) == "Nothing to stop: the agent is not working.\n"


@pytest.mark.usefixtures("prompt_pilot")
@on_a_loop
async def test_keys_in_the_terminal_answer_tell_and_stop(choosy: Asking) -> None:
    choosy.begin("plan")
    choosy.asks()
    async with watching(choosy.journal, SESSION) as (app, pilot):
        await shows(app, "The agent asks for approval", "2  Yes, ask me")
        await pilot.press("v")
        await asked(app, ChoiceDialog)
        await pilot.press("2")
        await asked(app)
        await pilot.press(*"slowly", "enter")
        await closed(app)
        await shows(app, "approved: Yes, ask me (revision 3)   you, just now · ")
        await to_thread(choosy.client_hears, "answer: ask")
        await eventually(lambda: choosy.rests(1) and "stop" not in _acts(app))
        await pilot.press("t")
        await asked(app)
        await pilot.press("enter")
        await closed(app)
        await to_thread(choosy.client_hears, "You (planwire): slowly")

        await eventually(lambda: choosy.rests(2) and "stop" not in _acts(app))
        choosy.prompt("slow")
        await eventually(lambda: "stop" in _acts(app))
        await pilot.press("t")
        await asked(app)
        await pilot.press(*"wait", "enter")
        await asked(app, DecisionDialog)
        await pilot.press("n")
        await asked(app)
        await pilot.press("escape")
        await closed(app)
        await pilot.press("S")
        await asked(app, DecisionDialog)
        await pilot.press("y")
        assert (await to_thread(choosy.client_gets, id="slow"))["result"]["stopReason"] == "cancelled"


def _acts(app: WatchApp) -> tuple[str, ...]:
    return panel(app).sheet.cards[0].acts
