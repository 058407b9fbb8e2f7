"""Real agents and a real client with the relay between them, on a scripted model: what each side gets, and the journal.

Where the relay has something to translate, the conversation is held twice at the same time, without it and with it.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from planwire.journal import load_state, open_journal
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    ContextCompacted,
    Event,
    MessageAdded,
    PlanReviewed,
    PlanSet,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan, Plan, PlanId
from tests.peers.agents import Agent, acpx, claude, deepagents
from tests.peers.client import Client, Hello, Policy, Refused, allow_once, reject_once
from tests.peers.model_server import ScriptedModel
from tests.peers.plans import (
    PROPOSAL,
    STEPS,
    enter_plan_mode,
    exit_plan_mode,
    task_create,
    task_update,
    todo_write,
    write_todos,
)
from tests.peers.relayed import TEE, Behind, Story, Talk, board_of, loses_nothing, relay_command, side_by_side
from tests.peers.script import Usage, say
from tests.wire import both_keys

pytestmark = pytest.mark.timeout(600)  # the first test may have to install its peer

BARE = Hello()
EVERYTHING = Hello(capabilities={"plan": {}, "session": {"compaction": {}}})
VERSION_2 = Hello(version=2)

STARTED = ("in_progress", "Reading the config file"), ("pending", STEPS[1]), ("pending", STEPS[2])
#: What the relay may change: plans with an id, compactions, and its own words.
CHANGEABLE = ('"plan_update"', '"plan_removed"', '"compaction_', "planwire-context")


def prompts(*texts: str, load: bool = False) -> Story:
    def tell(client: Client) -> str:
        session = client.new_session()
        for text in texts:
            client.prompt(session, text)
        if load:
            client.load_session(session)
        return session

    return tell


def loading(session: str, *texts: str) -> Story:
    def tell(client: Client) -> str:
        client.load_session(session)
        for text in texts:
            client.prompt(session, text)
        return session

    return tell


def entries(*steps: tuple[str, str]) -> tuple[Entry, ...]:
    return tuple(Entry(content, "medium", status) for status, content in steps)


def one_after_the_other(*policies: Policy) -> Callable[[], Policy]:
    """A person who answers each question in another way."""

    def policy() -> Policy:
        left = iter(policies)

        def answer(params: Mapping[str, Any]) -> str | None:
            return next(left)(params)

        return answer

    return policy


def untouched(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not any(word in line for word in CHANGEABLE)]


def is_part_of(lines: Sequence[str], more: Sequence[str]) -> bool:
    """Whether all lines are among the others, in order."""
    rest = iter(more)
    return all(line in rest for line in lines)


def kinds(events: Sequence[Event]) -> list[str]:
    """What happened, without the titles, which come when they come."""
    return [
        type(event).__name__
        for event in events
        if not (isinstance(event, SessionOpened) and event.title is not None and event.agent is None)
    ]


def opened(behind: Behind, session: str) -> SessionOpened:
    with open_journal(behind.journal) as journal:
        assert [known.id for known in journal.sessions()] == [session]
        about = load_state(journal, session).opened
    assert about is not None
    return about


def plans_of(behind: Behind, session: str) -> dict[PlanId, Plan]:
    with open_journal(behind.journal) as journal:
        return {plan_id: record.state.plan for plan_id, record in load_state(journal, session).live().items()}


def paragraphs(shown: str) -> tuple[list[str], list[str]]:
    """What acpx printed: of its connection in any order, since the agent tells of its login at will; then the rest."""
    printed = shown.split("\n\n")
    connection = sorted(each for each in printed if each.startswith("[client] "))
    return connection, [each for each in printed if not each.startswith("[client] ")]


def blocks(talk: Talk) -> list[int]:
    """How many blocks of the relay's the model could read, turn by turn: in the last request of each."""
    return [request.text.count("<planwire-context mark=") for request in talk.model.main]


def test_claude_for_a_plain_client(tmp_path: Path) -> None:
    """R8, R9, R51: nothing that was not asked for, nothing lost. R37: history is told again, and adds nothing."""
    script = [
        todo_write("pending", "pending", "pending"),
        todo_write("in_progress", "pending", "pending"),
        say("Begun."),
        enter_plan_mode(),
        exit_plan_mode(),
        say("On with it."),
    ]
    story = prompts("Make a plan.", "Plan it.", "/compact", "Go on.", "And on.", load=True)
    direct, talk, behind = side_by_side(claude, tmp_path, story, script)
    assert loses_nothing(direct, talk)
    assert {update["sessionUpdate"] for update in talk.client.plans()} == {"plan"}
    assert not talk.client.updates("compaction_update")

    # lines that need no change come through byte for byte, and in order
    made = [line for line in talk.lines if line not in behind.said]
    assert untouched(behind.said) == [line for line in talk.lines if line not in made]
    shown = ["tool_call", "tool_call_update", "plan"]  # the last: what claude does not retell after a compaction
    assert [json.loads(line)["params"]["update"]["sessionUpdate"] for line in made] == shown
    changed = [(line, told) for line, told in zip(talk.sent, behind.heard, strict=True) if line != told]
    assert [json.loads(line)["method"] for line, _ in changed] == ["initialize", "session/prompt"]
    assert "Go on." in changed[1][0]

    # the model reads the plans once, after the compaction; the client never sees the block, not even when it is retold
    assert blocks(talk) == [0, 0, 0, 0, 0, 0, 1, 1]
    told = talk.model.main[-2].text
    assert told.count(STEPS[2]) == told.count("<title>Plan</title>") == 1
    assert PROPOSAL not in told  # it was approved two turns ago, and nothing came of it
    assert any("user_message_chunk" in line and "planwire-context" in line for line in behind.said)
    assert "planwire-context" not in "".join(talk.lines)

    # the journal
    about = opened(behind, talk.session)
    assert (about.agent, about.client) == ("Claude Agent 0.99.0", "planwire's tests 1")
    assert (about.cwd, about.title) == (str(talk.client.cwd), "Scripted work")
    events = behind.events(talk.session)
    assert SessionOpened(title="Make a plan.") in events
    assert kinds(events) == [
        *["SessionOpened", "PlanSet", "PlanSet", "TurnEnded"],
        *["PlanSet", "ReviewAsked", "PlanReviewed", "TurnEnded"],
        *["ContextCompacted", "TurnEnded"],
        *["MessageAdded", "Told", "TurnEnded", "TurnEnded"],
    ]
    assert [event.verdict for event in events if isinstance(event, PlanReviewed)] == [APPROVED]
    kept = plans_of(behind, talk.session)
    assert kept == {
        None: ItemsPlan(None, entries(*STARTED)),
        "plan-mode": MarkdownPlan("plan-mode", PROPOSAL),
    }
    assert board_of(talk) == {None: kept[None]}  # one list is all that a plain client has

    # another process
    again = behind.talk(loading(talk.session, "Once more."), [], BARE)
    assert behind.events(talk.session) == [*events, TurnEnded("end_turn")]
    assert blocks(again) == [1]  # it was in the history that claude retold, so it is not told again
    assert "planwire-context" not in "".join(again.lines)
    assert again.sent[1:] == behind.heard[1:]


@pytest.mark.agents
def test_claude_for_a_client_that_can_do_everything(tmp_path: Path) -> None:
    """R12, R14: plans of both kinds side by side. R11: the id of a plan is under both keys. Nothing else is changed for
    such a client, which is shown the plans that are not retold."""
    script = [
        todo_write("in_progress", "pending", "pending"),
        enter_plan_mode(),
        exit_plan_mode("# A hasty plan"),
        exit_plan_mode(),
        say("On with it.", Usage(input=990_000)),
    ]
    story = prompts("Make a plan.", "A better one.", "Go on.", "And on.", "And on.", load=True)
    policy = one_after_the_other(reject_once, allow_once)
    direct, talk, behind = side_by_side(claude, tmp_path, story, script, EVERYTHING, policy)
    assert loses_nothing(direct, talk)
    proposed, seen = (
        [update["plan"]["content"] for update in each.client.plans() if update["sessionUpdate"] == "plan_update"]
        for each in (direct, talk)
    )
    assert seen == [*proposed, proposed[-1]]
    said = [both_keys(line.encode()).decode() for line in behind.said if "planwire-context" not in line]
    assert len(talk.lines) == len(said) + 2
    assert is_part_of(said, talk.lines)
    assert {told for line, told in zip(talk.sent, behind.heard, strict=True) if line != told} == {
        behind.heard[0],
        *(line for line in behind.heard if "planwire-context" in line),
    }

    # the context is compacted by itself in the turn of "Go on."
    assert blocks(talk)[-3:] == [0, 1, 1]
    assert "planwire-context" not in "".join(talk.lines)

    events = behind.events(talk.session)
    assert kinds(events) == [
        *["SessionOpened", "PlanSet", "PlanSet", "ReviewAsked", "PlanReviewed", "TurnEnded"],
        *["PlanSet", "ReviewAsked", "PlanReviewed", "TurnEnded"],
        *["ContextCompacted", "TurnEnded"],
        *["MessageAdded", "Told", "TurnEnded", "TurnEnded"],
    ]
    assert [event.verdict for event in events if isinstance(event, PlanReviewed)] == [CHANGES_REQUESTED, APPROVED]
    # the agent calls the first one cancelled, since the plan was rejected; but nobody cancelled it
    assert [event.stop_reason for event in events if isinstance(event, TurnEnded)] == ["end_turn"] * 5
    assert (
        board_of(talk)
        == plans_of(behind, talk.session)
        == {
            None: ItemsPlan(None, entries(*STARTED)),
            "plan-mode": MarkdownPlan("plan-mode", PROPOSAL),
        }
    )
    behind.talk(loading(talk.session), [], EVERYTHING)
    assert behind.events(talk.session) == events


@pytest.mark.agents
def test_claude_in_version_2(tmp_path: Path) -> None:
    """R16, R26: there is nothing to translate and nothing to offer. R39, R40: a resumed session adds nothing."""
    script = [
        todo_write("in_progress", "pending", "pending"),
        enter_plan_mode(),
        exit_plan_mode(),
        say("On with it."),
    ]
    story = prompts("Make a plan.", "/compact", "Go on.", "And on.", load=True)
    behind = Behind(claude, tmp_path)
    talk = behind.talk(story, script, VERSION_2)
    assert talk.client.version == 2
    untold = [line for line in behind.said if "planwire-context" not in line]
    assert is_part_of(untold, talk.lines)
    echoed = [
        line for line in talk.lines if line not in untold and "plan_update" not in line
    ]  # without its second part
    assert [json.loads(line)["params"]["update"]["content"] for line in echoed] == [
        [{"text": "Go on.", "type": "text"}]
    ]
    assert [line for line, told in zip(talk.sent, behind.heard, strict=True) if line != told] == [
        line for line in talk.sent if "Go on." in line
    ]
    assert blocks(talk)[-2:] == [1, 1]
    assert "planwire-context" not in "".join(talk.lines)

    events = behind.events(talk.session)
    assert kinds(events) == [
        *["SessionOpened", "PlanSet", "PlanSet", "ReviewAsked", "PlanReviewed", "TurnEnded"],
        *["ContextCompacted", "TurnEnded"],
        *["MessageAdded", "Told", "TurnEnded", "TurnEnded"],
    ]
    assert (
        plans_of(behind, talk.session)
        == board_of(talk)
        == {
            "plan": ItemsPlan("plan", entries(*STARTED)),
            "plan-mode": MarkdownPlan("plan-mode", PROPOSAL),
        }
    )
    assert opened(behind, talk.session).client == "planwire's tests 1"
    behind.talk(loading(talk.session), [], VERSION_2)
    assert behind.events(talk.session) == events


@pytest.mark.agents
def test_claude_with_single_tasks_retells_them_in_disorder(tmp_path: Path) -> None:
    """R5, R37: frames of long ago come back in any order, and the journal has them already."""
    script = [
        *(task_create(1), task_create(2, 3), task_update(1, "in_progress"), task_update(2, "deleted")),
        task_update(1, "completed"),
        say("Done."),
    ]

    def make(model: str, home: Path) -> Agent:
        return claude(model, home, tool="task")

    behind = Behind(make, tmp_path)
    talk = behind.talk(prompts("Make a plan."), script, BARE)
    assert talk.lines == behind.said
    events = behind.events(talk.session)
    sets = [event.plan for event in events if isinstance(event, PlanSet)]
    assert all(before != after for before, after in pairwise(sets))
    assert board_of(talk) == plans_of(behind, talk.session) == {None: sets[-1]}

    def load_twice(client: Client) -> str:
        client.load_session(talk.session)
        before = len(client.lines)
        client.load_session(talk.session)
        assert len(client.plans(since=before)) > 1
        return talk.session

    again = behind.talk(load_twice, [], BARE)
    more = behind.events(talk.session)[len(events) :]
    assert [type(event) for event in more] in ([], [PlanSet])
    assert plans_of(behind, talk.session) == board_of(again)


@pytest.mark.agents
def test_without_context_every_prompt_of_claudes_is_left_alone(tmp_path: Path) -> None:
    script = [todo_write("in_progress", "pending", "pending"), say("Begun.", Usage(input=990_000))]
    behind = Behind(claude, tmp_path, "--no-context")
    talk = behind.talk(prompts("Make a plan.", "Go on.", "/compact", "And on."), script, BARE)
    assert behind.heard[1:] == talk.sent[1:]
    assert blocks(talk)[-1] == 0
    assert STEPS[2] not in talk.model.main[-1].text
    events = behind.events(talk.session)
    assert sum(isinstance(event, ContextCompacted) for event in events) == 2
    assert not any(isinstance(event, MessageAdded) for event in events)


def test_acpx_shows_the_plan_as_it_does_without_the_relay(tmp_path: Path) -> None:
    script = [todo_write("pending", "pending", "pending"), todo_write("in_progress", "pending", "pending"), say("Ok.")]
    journal = tmp_path / "journal.db"

    def shown(name: str, *prefix: str) -> str:
        with ScriptedModel(script) as model:
            agent = claude(model.url, tmp_path / name)
            client = acpx(agent.behind(*prefix), "Make a plan.", "--format", "text")
            run = partial(subprocess.run, capture_output=True, text=True, timeout=60, check=True)
            return str(run(client.command, env=client.environment, cwd=client.cwd).stdout)

    with ThreadPoolExecutor(2) as both:
        direct, behind = both.map(lambda each: shown(*each), (("d",), ("b", *relay_command(journal))))
    assert "".join(f"  - [{status}] {content}\n" for status, content in STARTED) in direct
    assert paragraphs(behind) == paragraphs(direct)
    with open_journal(journal) as kept:
        (known,) = kept.sessions()
        state = load_state(kept, known.id)
    assert state.live()[None].state.plan == ItemsPlan(None, entries(*STARTED))
    assert state.opened is not None
    assert (state.opened.client or "").startswith("acpx ")
    assert (state.opened.title, state.stopped) in (("Make a plan.", "end_turn"), ("Scripted work", "end_turn"))


@pytest.mark.agents
def test_deepagents_whatever_the_client_can_do(tmp_path: Path) -> None:
    """R14: a `plan` needs no capability. R30 is broken by the agent: in version 2 its `plan` reaches the client as one
    that it can read (R27, R29)."""
    script = [
        write_todos("pending", "pending", "pending"),
        write_todos("in_progress", "pending", "pending"),
        say("Ok."),
    ]

    def story(client: Client) -> str:
        session = client.new_session()
        client.prompt(session, "Make a plan.")
        with pytest.raises(Refused):
            client.load_session(session)
        return session

    def run(hello: Hello) -> tuple[Talk, Behind]:
        behind = Behind(deepagents, tmp_path / str(hello))
        return behind.talk(story, script, hello), behind

    planned = ItemsPlan(None, entries(("in_progress", STEPS[0]), *STARTED[1:]))
    with ThreadPoolExecutor(2) as two_at_a_time:
        talks = list(two_at_a_time.map(run, (BARE, EVERYTHING, VERSION_2)))
    for talk, behind in talks:
        events = behind.events(talk.session)
        assert kinds(events) == ["SessionOpened", "PlanSet", "PlanSet", "TurnEnded"]
        assert plans_of(behind, talk.session) == {None: planned}
        about = opened(behind, talk.session)
        assert (about.agent, about.title) == (TEE.name, "Make a plan.")  # it does not name itself
        if talk.client.version == 1:
            assert talk.lines == behind.said  # the very lines that it says without the relay
            assert board_of(talk) == {None: planned}
        else:
            assert {json.dumps(update["plan"]["planId"]) for update in talk.client.plans()} == {'"main"'}
            assert [line for line in talk.lines if '"plan_update"' not in line] == [
                line for line in behind.said if '"sessionUpdate":"plan"' not in line
            ]
            (shown,) = board_of(talk).values()
            assert isinstance(shown, ItemsPlan)
            assert shown.entries == planned.entries


OURS = Path(__file__).parents[2] / "examples" / "agent.py"


def ours(*command: str) -> Callable[[str, Path], Agent]:
    def make(_model: str, home: Path) -> Agent:
        home.mkdir(parents=True, exist_ok=True)
        own = home.with_name(f"{home.name}-of-a-user")  # a home is no project
        environment = {"PATH": "", "HOME": str(own), "PLANWIRE_JOURNAL": str(home / "own.db"), "LANG": "C.UTF-8"}
        return Agent("ours", (sys.executable, *command), environment, home)

    return make


@pytest.mark.parametrize("hello", [BARE, EVERYTHING, VERSION_2], ids=["plain", "everything", "version 2"])
def test_the_demo_agent_gets_its_plan_back(hello: Hello, tmp_path: Path) -> None:
    make = ours("-P", "-m", "planwire.demo.agent", "--speed", "100")
    direct, talk, behind = side_by_side(make, tmp_path, prompts("Fix it.", "Go on."), [], hello)
    assert "brought my plan back" in talk.client.said()
    assert "brought my plan back" not in direct.client.said()
    shown = board_of(talk)
    if hello is not BARE:
        assert talk.lines == behind.said
        assert shown == plans_of(behind, talk.session)
    (steps,) = [plan.entries for plan in shown.values() if isinstance(plan, ItemsPlan)]
    if hello is BARE:  # one list for all plans, the checklist in its file among them
        steps, checklist = steps[:-2], steps[-2:]
        assert {entry.content.partition(": ")[0] for entry in steps} == {"fix"}
        assert {entry.content.partition(": ")[0] for entry in checklist} == {"Before the release"}
    assert {entry.status for entry in steps} <= {"completed", "cancelled"}
    assert any("cancelled" in entry.content + entry.status for entry in steps)


def test_the_example_agent_keeps_its_plan_across_processes(tmp_path: Path) -> None:
    make = ours(str(OURS), "--pace", "0")
    direct, talk, behind = side_by_side(make, tmp_path, prompts("Read, write, run"), [])
    assert loses_nothing(direct, talk)
    events = behind.events(talk.session)
    assert board_of(talk) != {}
    assert opened(behind, talk.session).agent == "planwire's example agent 1"
    again = behind.talk(loading(talk.session), [], BARE)
    assert behind.events(talk.session) == events
    assert board_of(again) == board_of(talk)
