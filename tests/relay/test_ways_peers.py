"""Real agents of several makers behind the relay: each keeps its plan over compactions, loads and forks, and hears
people once, though every one of them says, asks and repeats such things in a way of its own.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planwire.journal import load_state, open_journal
from planwire.model.events import ContextCompacted, Event, PlanChanged, PlanSet, TurnEnded
from planwire.model.plan import ItemsPlan
from planwire.model.records import SessionState
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.peers.client import Client, Hello, reject_once
from tests.peers.kinds import CLAUDE, CODEX, KINDS, OPENCODE, Kind
from tests.peers.plans import STEPS, enter_plan_mode, exit_plan_mode, proposed_plan, update_plan
from tests.peers.relayed import Behind, Story, Talk, board_of
from tests.peers.script import Request, Step, Turn, call, say
from tests.waiting import until

pytestmark = pytest.mark.timeout(600)  # the first test may have to install its peer

BLOCK = "<planwire-context mark="
BEGUN = ("in_progress", "pending", "pending")
TOOLS_STEPS = ["Ask the maintainers", "Draw the map"]
WORDS = "Never touch the vendor folder."
FIRST, SECOND = "# Port the parser\n\n1. Write it in one go", "# Port the lexer\n\n1. Write it in two steps"

every = pytest.mark.parametrize("kind", [pytest.param(each, marks=pytest.mark.agents, id=str(each)) for each in KINDS])


def blocks(talk: Talk) -> list[int]:
    """How many blocks of the relay's each main request has."""
    return [request.text.count(BLOCK) for request in talk.model.main]


def state_of(behind: Behind, session: str) -> SessionState:
    with open_journal(behind.journal) as journal:
        return load_state(journal, session)


def plan_events(behind: Behind, session: str) -> list[Event]:
    return [event for event in behind.events(session) if isinstance(event, PlanSet | PlanChanged)]


def shown(update: Mapping[str, Any]) -> list[str]:
    return [entry["content"] for entry in update["entries"]]


def working(*texts: str) -> Story:
    """A new session, and a prompt after the other."""

    def tell(client: Client) -> str:
        session = client.new_session()
        for text in texts:
            client.prompt(session, text)
        return session

    return tell


def again_with(method: str, session: str, *texts: str) -> Story:
    """A session that goes on in another process. The client must have the plan before it says a word."""

    def tell(client: Client) -> str:
        client.request(method, {"sessionId": session, "cwd": str(client.cwd), "mcpServers": []})
        client.wait_for(lambda: client.plans(session) or None, "the plan")
        for text in texts:
            client.prompt(session, text)
        return session

    return tell


def made_with_tools(kind: Kind) -> Turn:
    return call(kind.called("set_plan"), entries=TOOLS_STEPS, summary="It is asked for")


@every
def test_the_first_prompt_after_a_compaction_has_the_plan(kind: Kind, tmp_path: Path) -> None:
    behind = Behind(kind.make, tmp_path)
    talk = behind.talk(working("Make a plan.", "/compact", "Go on.", "And on."), [kind.listed(*BEGUN)], Hello())
    assert blocks(talk) == [0, 0, 1, 1]
    told = talk.model.main[2].text
    assert STEPS[2] in told[told.index(BLOCK) :]
    assert "planwire-context" not in "".join(talk.lines)
    assert sum(isinstance(event, ContextCompacted) for event in behind.events(talk.session)) == 1


@every
def test_a_comment_is_told_once_and_is_in_no_message_that_the_client_is_shown(kind: Kind, tmp_path: Path) -> None:
    """Neither now nor when the messages are told again, of which not a blank more is left than the person wrote."""
    behind = Behind(kind.make, tmp_path)
    texts = ["Make a plan.", "Go on.", "And on."]

    def story(client: Client) -> str:
        session = client.new_session()
        client.prompt(session, texts[0])
        until(lambda: plan_events(behind, session))  # it is recorded soon, not before the turn ends
        with open_journal(behind.journal) as journal:
            steer(journal, session, None, Wanted("comment", text=WORDS))
        for text in texts[1:]:
            client.prompt(session, text)
        return session

    talk = behind.talk(story, [kind.listed(*BEGUN)], Hello())
    assert [request.text.count(WORDS) for request in talk.model.main] == [0, 0, 1, 1]
    assert WORDS not in "".join(talk.lines)

    again = behind.talk(again_with("session/load", talk.session, "Once more."), [], Hello())
    told_again = again.client.updates("user_message_chunk")  # none of these repeats a prompt when it gets it
    assert [update["content"]["text"] for update in told_again] == texts
    assert [request.text.count(WORDS) for request in again.model.main] == [1]
    assert WORDS not in "".join(again.lines)


@every
@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_session_that_goes_on_elsewhere_has_its_plan(kind: Kind, method: str, tmp_path: Path) -> None:
    """R37, R39: the client is shown it in any case, and the agent is told it if its history is without it."""
    behind = Behind(kind.make, tmp_path)
    talk = behind.talk(working("Make a plan."), [kind.listed(*BEGUN)], Hello())
    events = plan_events(behind, talk.session)

    again = behind.talk(again_with(method, talk.session, "Go on."), [], Hello())
    assert board_of(again) == board_of(talk)
    assert blocks(again) == [0 if method in kind.retells else 1]
    assert plan_events(behind, talk.session) == events
    assert "planwire-context" not in "".join(again.lines)
    assert not any("planwire-context" in side.text for side in again.model.sides), "a title is made of people's words"


@every
def test_a_plan_made_with_the_tools_is_there_again_after_a_load(kind: Kind, tmp_path: Path) -> None:
    behind = Behind(kind.make, tmp_path, "--tools")
    talk = behind.talk(working("Make a plan."), [made_with_tools(kind)], Hello())
    assert talk.client.questions() == [], "nobody is asked about planwire's own tools"
    assert [shown(update) for update in talk.client.plans(talk.session)] == [TOOLS_STEPS]

    again = behind.talk(again_with("session/load", talk.session, "Go on."), [], Hello())
    assert [shown(update) for update in again.client.plans(talk.session)] == [TOOLS_STEPS]
    assert blocks(again) == [1]
    told = again.model.main[0].text
    assert TOOLS_STEPS[1] in told[told.index(BLOCK) :]


@every
def test_a_fork_begins_with_the_plans_of_its_parent(kind: Kind, tmp_path: Path) -> None:
    behind = Behind(kind.make, tmp_path, "--tools")
    sessions: list[str] = []

    def story(client: Client) -> str:
        parent = client.new_session()
        client.prompt(parent, "Make a plan.")
        asked = {"sessionId": parent, "cwd": str(client.cwd), "mcpServers": []}
        sessions.append(str(client.request("session/fork", asked)["sessionId"]))
        client.prompt(sessions[0], "Go on.")
        return parent

    read: list[str] = []

    def reading(request: Request) -> Turn:
        read.append(request.last_words)
        return say("Read.")

    get_plan = call(kind.called("get_plan"))
    script: list[Step] = [kind.listed(*BEGUN), made_with_tools(kind), say("Made."), get_plan, reading]
    talk = behind.talk(story, script, Hello())
    assert talk.model.left == 0
    assert talk.client.questions() == []
    assert [TOOLS_STEPS[1] in words for words in read] == [True], "the plan is what the fork's call was answered with"

    parent, fork = state_of(behind, talk.session), state_of(behind, sessions[0])
    assert fork.opened is not None
    assert fork.opened.forked is not None
    assert fork.opened.forked.session == talk.session
    assert {each: record.state.plan for each, record in fork.live().items()} == {
        each: record.state.plan for each, record in parent.live().items()
    }
    assert set(fork.live()) == {None, "main"}
    assert shown(talk.client.plans(sessions[0])[-1]) == shown(talk.client.plans(talk.session)[-1])


@pytest.mark.agents
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_two_sessions_of_one_process_keep_their_plans_apart(kind: Kind, tmp_path: Path) -> None:
    """Also those of an agent that starts one server of a name, for all of its sessions."""
    behind = Behind(kind.make, tmp_path, "--tools")
    sessions: list[str] = []

    def story(client: Client) -> str:
        for _ in range(2):
            sessions.append(client.new_session())
            client.prompt(sessions[-1], "Make a plan.")
        return sessions[0]

    steps = [["Sweep the floor"], ["Wash the windows"]]
    calls = [call(kind.called("set_plan"), entries=each) for each in steps]
    behind.talk(story, [calls[0], say("Made."), calls[1]], Hello())
    plans = [state_of(behind, session).live()["main"].state.plan for session in sessions]
    assert [[entry.content for entry in plan.entries] for plan in plans if isinstance(plan, ItemsPlan)] == steps


@pytest.mark.agents
def test_a_plan_that_was_rejected_is_neither_told_nor_listed_by_claude(tmp_path: Path) -> None:
    behind = Behind(CLAUDE.make, tmp_path)
    script = [enter_plan_mode(), exit_plan_mode(FIRST)]
    talk = behind.talk(working("Plan it.", "/compact", "Go on."), script, Hello(), reject_once)
    assert len(talk.client.questions()) == 1
    assert talk.client.plans() == []
    assert blocks(talk) == [0, 0, 0]


def planning(client: Client, mode: str, session: str) -> None:
    wanted = {"sessionId": session, "configId": "collaboration_mode", "value": mode}
    client.request("session/set_config_option", wanted)


@pytest.mark.agents
def test_plans_that_were_rejected_are_neither_told_nor_listed_by_codex(tmp_path: Path) -> None:
    def story(client: Client) -> str:
        session = client.new_session()
        planning(client, "plan", session)
        client.prompt(session, "Plan it.")
        client.prompt(session, "Plan something else.")
        planning(client, "default", session)
        client.prompt(session, "/compact")
        client.prompt(session, "Go on.")
        return session

    behind = Behind(CODEX.make, tmp_path)
    talk = behind.talk(story, [proposed_plan(FIRST), proposed_plan(SECOND)], Hello(), reject_once)
    assert len(talk.client.questions()) == 2
    assert talk.client.plans() == []
    assert blocks(talk) == [0, 0, 0]


@pytest.mark.agents
def test_a_plan_that_codex_has_carried_out_does_not_come_back(tmp_path: Path) -> None:
    """R3: a list that the agent clears is an empty list, for the client too."""

    def story(client: Client) -> str:
        session = client.new_session()
        planning(client, "plan", session)
        client.prompt(session, "Plan it.")
        client.prompt(session, "/compact")
        client.prompt(session, "What next?")
        return session

    behind = Behind(CODEX.make, tmp_path)
    done = update_plan("completed", "completed", "completed")
    script = [proposed_plan(FIRST), update_plan(*BEGUN), done, update_plan(), say("All done.")]
    talk = behind.talk(story, script, Hello())
    assert talk.model.left == 0
    assert [shown(update) for update in talk.client.plans()] == [list(STEPS), list(STEPS), []]
    assert blocks(talk)[-1] == 0


@pytest.mark.agents
def test_a_turn_that_was_cancelled_is_recorded_as_that_though_opencode_says_that_it_ended(tmp_path: Path) -> None:
    never = threading.Event()

    def story(client: Client) -> str:
        session = client.new_session()
        prompt = client.begin(session, "Work.")
        begun.wait(30)
        client.notify("session/cancel", {"sessionId": session})
        assert client.end_of(prompt) == "end_turn"
        never.set()
        return session

    begun = threading.Event()

    def slowly(_: Request) -> Turn:
        begun.set()
        return Turn("Slow.", hold=never)

    behind = Behind(OPENCODE.make, tmp_path)
    talk = behind.talk(story, [slowly], Hello())
    assert [event for event in behind.events(talk.session) if isinstance(event, TurnEnded)] == [TurnEnded("cancelled")]
