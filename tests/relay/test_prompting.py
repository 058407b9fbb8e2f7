"""Turns that a person starts from planwire, behind the policy: told now, steered, cancelled, stopped."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from planwire.chat.said import said_in
from planwire.journal import Journal, open_journal
from planwire.model.events import APPROVED, CHANGES_REQUESTED, REFUSED, TOLD, Told, TurnEnded
from planwire.model.records import ANSWER, PROMPT
from planwire.relay.actions import HoldBack, Meet, ToAgent, Warn
from planwire.relay.prompting import HOLD, PATIENCE
from tests.agents.driving import JournalledTalk
from tests.relay.test_answers import MODE, asking, taken_back, wire_answer
from tests.relay.test_questions import choice
from tests.wire import JSON, answer, entry, line, plan, refusal, request

VENDOR = "never touch vendor/"
STEERS: JSON = {"_meta": {"steering": {"supported": True}}}
QUEUES: JSON = {"agentCapabilities": {"_meta": {"claudeCode": {"promptQueueing": True}}}}


@pytest.fixture
def journal() -> Iterator[Journal]:
    with open_journal("memory:") as journal:
        yield journal


@pytest.fixture
def talk(journal: Journal) -> JournalledTalk:
    return idle(journal)


def idle(journal: Journal, announced: JSON | None = None, version: int = 1, **options: Any) -> JournalledTalk:
    """A session with a plan, whose agent has nothing to do."""
    talk = JournalledTalk(journal, version, announced=announced, **options)
    talk.prompt()
    talk.agent(plan(entry("Read"), entry("Write")))
    end(talk, version)
    talk.look()
    return talk


def working(journal: Journal, announced: JSON | None = None, version: int = 1) -> JournalledTalk:
    """The same in a turn of the client's."""
    talk = idle(journal, announced, version)
    talk.prompt()
    talk.look()
    return talk


def loaded(journal: Journal) -> JournalledTalk:
    """The same on another connection, which loads the session."""
    talk = JournalledTalk(journal, begun=False)
    talk.begin(session="another")
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project", mcpServers=[]))
    talk.agent(answer("l", {}))
    talk.look()
    return talk


def end(talk: JournalledTalk, version: int = 1, request_id: str = "p", reason: str = "end_turn") -> list[bytes]:
    """The agent ends its turn. What the client gets."""
    if version == 1:
        return talk.agent(answer(request_id, {"stopReason": reason}))
    sent = talk.agent(answer(request_id, {"messageId": "m1"}))
    return [*sent, *talk.agent(line({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason}))]


def tell(talk: JournalledTalk, text: str | None = VENDOR, **arguments: Any) -> list[JSON]:
    """What the agent gets when a person has it told something now."""
    return talk.steer("tell", None, "ana", text=text, **arguments)[0]


def words(message: JSON) -> list[tuple[str, str]]:
    """What people say in a prompt or a steering request of the relay's own: who, and what."""
    (block,) = message["params"]["prompt"]
    assert block["type"] == "text"
    return [(each.author, each.text) for each in said_in(block["text"]) if each.author not in ("agent", "planwire")]


def shown(messages: list[JSON]) -> list[str]:
    """The messages of the user's that the client is shown."""
    updates = [each["params"]["update"] for each in messages]
    return [each["content"]["text"] for each in updates if each["sessionUpdate"] == "user_message_chunk"]


def turns(talk: JournalledTalk) -> list[str]:
    return [event.stop_reason for _, event in talk.recorded(TurnEnded) if isinstance(event, TurnEnded)]


def tellings(talk: JournalledTalk) -> list[tuple[str, str]]:
    return [(event.way, event.stage) for _, event in talk.recorded(Told) if isinstance(event, Told)]


def client_prompt(talk: JournalledTalk, request_id: str = "p2") -> list[bytes]:
    return talk.client(request("session/prompt", request_id, sessionId="s1", prompt=[{"type": "text", "text": "Hi"}]))


CANCEL = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}'
STOPPED = json.loads(CANCEL)


# -- idle


@pytest.mark.parametrize("version", [1, 2])
def test_an_idle_agent_gets_a_prompt_and_the_client_sees_the_words_and_no_answer(
    journal: Journal, version: int
) -> None:
    talk = idle(journal, version=version)
    talk.look()
    talk.say("tell", None, "ana", text=VENDOR)
    talk.look()
    (prompt,) = talk.for_agent()
    assert prompt["method"] == "session/prompt"
    assert isinstance(prompt["id"], str)
    assert prompt["id"].startswith("planwire-word")
    assert prompt["params"]["sessionId"] == "s1"
    assert words(prompt) == [("ana", VENDOR)]
    assert shown(talk.for_client()) == [f"ana (planwire): {VENDOR}"]
    assert talk.policy.is_working()
    assert talk.now().tell is None
    assert talk.now().remark("r1").told is not None  # type: ignore[union-attr]
    sent = end(talk, version, prompt["id"])
    assert [json.loads(each).get("id") for each in sent] == ([] if version == 1 else [None])
    assert not talk.policy.is_working()
    assert turns(talk) == ["end_turn", "end_turn"]
    assert len(talk.prompt()["params"]["prompt"]) == 1  # they are told once


def test_nothing_is_recorded_as_told_before_the_prompt_has_left(talk: JournalledTalk) -> None:
    talk.say("tell", None, text=VENDOR)
    talk.look()
    assert tellings(talk) == []
    talk.for_agent()
    assert tellings(talk) == [("prompt", TOLD)]


def test_an_answer_of_the_agents_in_a_batch_is_swallowed_too(journal: Journal) -> None:
    """R36."""
    talk = idle(journal, version=2)
    (prompt,) = tell(talk)
    assert talk.agent(b"[" + answer(prompt["id"], {"messageId": "m"}) + b"]") == []


@pytest.mark.parametrize("method", ["session/set_mode", "session/load", "session/prompt", "_vendor/thing"])
def test_the_relay_never_prompts_while_a_request_of_the_clients_for_that_session_is_open(
    talk: JournalledTalk, method: str
) -> None:
    params: JSON = {"sessionId": "s1", "prompt": [{"type": "text", "text": "/compact"}], "cwd": "/project"}
    talk.lags = True
    talk.client(request(method, "r", **params))
    talk.say("tell", None, text=VENDOR)  # the journal says that the agent is idle
    talk.look()
    assert talk.for_agent() == []
    talk.agent(answer("r", {"stopReason": "end_turn"} if method == "session/prompt" else {}))
    (prompt,) = talk.for_agent()
    assert words(prompt) == [("user", VENDOR)]


def test_a_request_that_failed_is_no_longer_open(talk: JournalledTalk) -> None:
    talk.client(request("session/set_mode", "r", sessionId="s1", modeId="x"))
    assert tell(talk) == []
    talk.agent(refusal("r"))
    assert len(talk.for_agent()) == 1


def test_requests_for_other_sessions_do_not_matter(talk: JournalledTalk) -> None:
    talk.client(request("session/new", "n2", cwd="/other", mcpServers=[]))
    talk.agent(answer("n2", {"sessionId": "s2"}))
    talk.client(request("session/prompt", "p2", sessionId="s2", prompt=[{"type": "text", "text": "Hi"}]))
    talk.client(request("session/set_mode", "r", sessionId="s2", modeId="x"))
    talk.client(request("session/new", "n3", cwd="/other", mcpServers=[]))
    assert len(tell(talk)) == 1


def test_words_that_the_clients_own_prompt_told_meanwhile_are_not_told_again(talk: JournalledTalk) -> None:
    talk.client(request("session/set_mode", "r", sessionId="s1", modeId="x"))
    assert tell(talk) == []
    assert len(talk.prompt()["params"]["prompt"]) == 2
    talk.agent(answer("r", {}))
    end(talk)
    talk.look()
    assert talk.for_agent() == talk.for_client() == []


def test_a_wish_is_carried_out_once(talk: JournalledTalk) -> None:
    (prompt,) = tell(talk)
    end(talk, request_id=prompt["id"])
    for _ in range(3):
        talk.look()
        assert talk.for_agent() == []


def test_a_prompt_that_the_agent_refuses_is_told_again_later(talk: JournalledTalk) -> None:
    (prompt,) = tell(talk)
    assert talk.agent(refusal(prompt["id"])) == []
    assert [each.text for each in talk.actions if isinstance(each, Warn)] == [
        "the agent refused what people said (no): it goes with the next prompt"
    ]
    assert tellings(talk) == [("prompt", TOLD), ("prompt", REFUSED)]
    assert turns(talk)[-1] == "error"
    talk.look()
    assert talk.for_agent() == []
    assert len(talk.prompt()["params"]["prompt"]) == 2


def test_a_wish_older_than_the_connection_is_not_carried_out(talk: JournalledTalk, journal: Journal) -> None:
    talk.look()
    talk.say("tell", None, text=VENDOR)  # and the relay is killed
    other = loaded(journal)
    assert other.for_agent() == []
    assert len(other.prompt()["params"]["prompt"]) == 2


def test_a_wish_in_a_session_that_was_forgotten_and_began_anew_is_carried_out(
    talk: JournalledTalk, journal: Journal
) -> None:
    for number in range(5):
        (prompt,) = tell(talk, f"word {number}")
        end(talk, request_id=prompt["id"])
    other = loaded(journal)
    journal.forget("s1")
    other.look()
    other.prompt()
    other.agent(plan(entry("Read"), entry("Test")))
    end(other)
    (prompt,) = tell(other)
    assert words(prompt) == [("ana", VENDOR)]


def test_a_relay_that_leaves_everything_to_the_client_says_nothing_of_its_own(journal: Journal) -> None:
    talk = idle(journal, STEERS, steers=False)
    assert talk.policy.terms("s1").can == ()
    assert tell(talk) == []
    assert talk.for_client() == []
    assert len(talk.prompt()["params"]["prompt"]) == 2


# -- steering


def steered(talk: JournalledTalk, result: Any = None) -> JSON:
    """Words go into the running turn, and the agent answers to that."""
    (sent,) = tell(talk)
    assert sent["method"] == "_session/steering"
    assert sent["params"]["_meta"] == {"steering": {"idleBehavior": "promptRequired"}}
    assert words(sent) == [("ana", VENDOR)]
    assert talk.agent(answer(sent["id"], result)) == []
    return sent


@pytest.mark.parametrize("outcome", ["injected", "startedNewTurn"])
def test_an_agent_that_can_be_steered_hears_it_in_its_turn(journal: Journal, outcome: str) -> None:
    talk = working(journal, STEERS)
    steered(talk, {"outcome": outcome})
    assert shown(talk.for_client()) == [f"ana (planwire): {VENDOR}"]
    assert talk.for_agent() == []
    assert tellings(talk) == [("steering", TOLD)]
    assert end(talk) == [answer("p", {"stopReason": "end_turn"})]
    talk.look()
    assert talk.for_agent() == []
    assert len(talk.prompt()["params"]["prompt"]) == 1


def test_words_that_found_no_turn_to_go_into_are_prompted_once_the_clients_request_is_answered(
    journal: Journal,
) -> None:
    """Codex has ended its turn while its client's prompt is still open: no words go in, however often one tries."""
    talk = working(journal, STEERS)
    steered(talk, {"outcome": "promptRequired", "reason": "noRunningTurn"})
    talk.look()
    assert talk.for_agent() == talk.for_client() == []
    assert tellings(talk) == [("steering", TOLD), ("steering", REFUSED)]
    end(talk)
    (prompt,) = talk.for_agent()
    assert prompt["method"] == "session/prompt"
    assert words(prompt) == [("ana", VENDOR)]
    end(talk, request_id=prompt["id"])
    talk.prompt(message_id="p3")
    talk.look()
    steered_again = talk.steer("tell", None, "ana", text="once more")[0]
    assert [each["method"] for each in steered_again] == ["_session/steering"]


@pytest.mark.parametrize("response", ["refusal", "nonsense"])
def test_an_agent_that_refuses_to_be_steered_is_told_when_its_turn_is_over_and_not_steered_again(
    journal: Journal, response: str
) -> None:
    talk = working(journal, STEERS)
    (sent,) = tell(talk)
    assert talk.agent(refusal(sent["id"]) if response == "refusal" else answer(sent["id"], {"outcome": "?"})) == []
    assert talk.for_agent() == []
    assert "steer" not in talk.policy.terms("s1").can
    end(talk)
    (prompt,) = talk.for_agent()
    end(talk, request_id=prompt["id"])
    talk.prompt(message_id="p3")
    talk.look()
    assert talk.steer("tell", None, "ana", text="once more", interrupt=True)[0] == [STOPPED]


def test_what_comes_while_words_are_on_their_way_waits_for_their_outcome(journal: Journal) -> None:
    talk = working(journal, STEERS)
    (first,) = tell(talk)
    assert tell(talk, "and no more mocks") == []
    talk.agent(answer(first["id"], {"outcome": "injected"}))
    (second,) = talk.for_agent()
    assert words(second) == [("ana", "and no more mocks")]


# -- words with an answer


def test_words_with_a_rejection_go_into_the_turn_before_the_answer(journal: Journal) -> None:
    talk = asking(journal, announced=STEERS)
    (steering,), to_client = talk.steer("review", MODE, "ana", verdict=CHANGES_REQUESTED, text="smaller")
    assert steering["method"] == "_session/steering"
    assert ("ana", "smaller") in words(steering)
    assert to_client == []
    talk.look()
    assert talk.for_agent() == []
    talk.agent(answer(steering["id"], {"outcome": "injected"}))
    assert talk.for_agent() == [wire_answer("reject")]
    withdrawal, message = talk.for_client()
    assert withdrawal == taken_back()
    assert shown([message]) == ["ana (planwire): smaller"]
    end(talk, reason="cancelled")
    assert turns(talk) == ["end_turn"]  # claude-agent-acp calls a turn with a rejection cancelled, however it ended
    talk.look()
    assert talk.for_agent() == []


def test_words_with_a_rejection_that_the_turn_does_not_take_follow_it(journal: Journal) -> None:
    """As codex-acp: no turn of its own runs while it asks."""
    talk = asking(journal, announced=STEERS)
    (steering,), _ = talk.steer("review", MODE, "ana", verdict=CHANGES_REQUESTED, text="smaller")
    talk.agent(answer(steering["id"], {"outcome": "promptRequired"}))
    assert talk.for_agent() == [wire_answer("reject")]
    end(talk)
    (prompt,) = talk.for_agent()
    assert prompt["method"] == "session/prompt"
    assert ("ana", "smaller") in words(prompt)


def test_an_answer_waits_for_its_words_no_longer_than_may_be(journal: Journal) -> None:
    talk = asking(journal, announced=STEERS)
    (steering,), _ = talk.steer("review", MODE, "ana", verdict=CHANGES_REQUESTED, text="smaller")
    (hold,) = (each for each in talk.actions if isinstance(each, HoldBack))
    assert (hold.what, hold.seconds) == (ANSWER, PATIENCE)
    talk.policy.overdue(hold)
    assert talk.for_agent() == [wire_answer("reject")]
    talk.agent(answer(steering["id"], {"outcome": "injected"}))
    talk.policy.overdue(hold)
    assert talk.for_agent() == []


def test_a_client_that_answers_while_an_answer_waits_for_its_words_is_first(journal: Journal) -> None:
    talk = asking(journal, announced=STEERS)
    (steering,), _ = talk.steer("review", MODE, "ana", verdict=CHANGES_REQUESTED, text="smaller")
    assert talk.client(choice("default")) == [choice("default")]
    talk.agent(answer(steering["id"], {"outcome": "injected"}))
    assert talk.for_agent() == []
    assert taken_back() not in talk.for_client()
    assert talk.now().needs_person  # the agent goes on with what a person has rejected


@pytest.mark.parametrize("now", [None, True])
def test_words_with_a_rejection_for_an_agent_without_a_way_in_wait(journal: Journal, now: bool | None) -> None:
    talk = asking(journal)
    to_agent, _ = talk.steer("review", MODE, "ana", verdict=CHANGES_REQUESTED, text="smaller", now=now)
    assert to_agent == [wire_answer("reject")]
    end(talk)
    assert [each["method"] for each in talk.for_agent()] == (["session/prompt"] if now else [])


# -- interrupted


@pytest.mark.parametrize("version", [1, 2])
def test_a_turn_is_cancelled_and_the_words_follow_once_the_client_has_its_response(
    journal: Journal, version: int
) -> None:
    talk = working(journal, version=version)
    assert tell(talk, interrupt=True) == [STOPPED]
    talk.look()
    assert talk.for_agent() == talk.for_client() == []
    sent = end(talk, version, reason="cancelled")
    assert sent[0] == answer("p", {"stopReason": "cancelled"} if version == 1 else {"messageId": "m1"})
    (prompt,) = talk.for_agent()
    assert words(prompt) == [("ana", VENDOR)]
    assert turns(talk)[-1] == "cancelled"


def test_a_question_of_the_turn_is_cancelled_with_it(journal: Journal) -> None:
    """R41."""
    talk = asking(journal)
    to_agent, to_client = talk.steer("tell", MODE, "ana", text=VENDOR, interrupt=True)
    assert to_agent == [STOPPED, {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "cancelled"}}}]
    assert to_client == [taken_back()]
    assert talk.now().plans[MODE].asked is None
    assert talk.client(choice("default")) == []
    (said,) = talk.for_client()
    assert "came too late: the turn was stopped." in said["params"]["update"]["content"]["text"]


# -- stopped


def test_any_turn_can_be_stopped_and_nothing_follows(journal: Journal) -> None:
    talk = working(journal)
    assert talk.steer("stop") == ([STOPPED], [])
    talk.look()
    assert talk.for_agent() == []
    end(talk, reason="cancelled")
    (prompt,) = tell(talk)
    assert talk.steer("stop")[0] == [STOPPED]
    assert end(talk, request_id=prompt["id"], reason="cancelled") == []
    assert turns(talk)[-2:] == ["cancelled", "cancelled"]
    assert talk.for_agent() == []


@pytest.mark.parametrize("is_seen_at_once", [False, True])
def test_a_stop_takes_back_what_was_still_to_be_told_now(journal: Journal, is_seen_at_once: bool) -> None:
    talk = working(journal)
    talk.say("tell", None, "ana", text=VENDOR, interrupt=True)
    if not is_seen_at_once:
        talk.look()
        assert talk.for_agent() == [STOPPED]
    talk.say("stop")
    talk.look()
    assert talk.for_agent() == [STOPPED]
    end(talk, reason="cancelled")
    assert talk.for_agent() == []
    assert len(talk.prompt()["params"]["prompt"]) == 2


@pytest.mark.parametrize("version", [1, 2])
def test_a_turn_that_the_client_cancelled_is_recorded_as_that_whatever_the_agent_says(
    journal: Journal, version: int
) -> None:
    """As opencode does: a cancelled turn ended by itself, it says."""
    talk = working(journal, version=version)
    assert talk.client(CANCEL) == [CANCEL]
    end(talk, version)
    talk.prompt()
    end(talk, version)
    assert turns(talk) == ["end_turn", "cancelled", "end_turn"]


def test_a_cancel_between_turns_cancels_none(talk: JournalledTalk) -> None:
    talk.client(CANCEL)
    talk.prompt()
    end(talk)
    assert turns(talk) == ["end_turn", "end_turn"]


# -- the client's prompt in the middle


def test_an_agent_that_queues_gets_the_clients_prompt_at_once(journal: Journal) -> None:
    talk = idle(journal, QUEUES)
    (prompt,) = tell(talk)
    assert len(client_prompt(talk)) == 1
    assert end(talk, request_id=prompt["id"]) == []
    assert turns(talk) == ["end_turn"]
    assert end(talk, request_id="p2") == [answer("p2", {"stopReason": "end_turn"})]
    assert turns(talk) == ["end_turn", "end_turn"]


@pytest.mark.parametrize("version", [1, 2])
def test_any_other_agent_gets_it_when_the_turn_is_over(journal: Journal, version: int) -> None:
    talk = idle(journal, version=version)
    (prompt,) = tell(talk)
    assert client_prompt(talk) == []
    assert talk.actions[-1] == HoldBack("s1", 1, HOLD, PROMPT)
    assert talk.for_agent() == []
    end(talk, version, prompt["id"])
    (passed,) = talk.for_agent()
    assert (passed["id"], passed["params"]["prompt"]) == ("p2", [{"type": "text", "text": "Hi"}])
    assert talk.policy.is_working()
    end(talk, version, "p2")
    assert turns(talk) == ["end_turn"] * 3


def test_after_a_minute_it_is_passed_on_whatever_the_agent_does(talk: JournalledTalk) -> None:
    (prompt,) = tell(talk)
    client_prompt(talk)
    talk.policy.overdue(HoldBack("s1", 1, HOLD, PROMPT))
    assert [each["id"] for each in talk.for_agent()] == ["p2"]
    assert end(talk, request_id=prompt["id"]) == []
    assert turns(talk) == ["end_turn"]
    assert len(end(talk, request_id="p2")) == 1
    assert turns(talk) == ["end_turn", "end_turn"]


def test_the_minute_of_a_turn_that_is_over_is_nobody_elses(talk: JournalledTalk) -> None:
    (prompt,) = tell(talk)
    client_prompt(talk)
    end(talk, request_id=prompt["id"])
    talk.for_agent()
    end(talk, request_id="p2")
    tell(talk, "and no more mocks")
    client_prompt(talk, "p3")
    talk.policy.overdue(HoldBack("s1", 1, HOLD, PROMPT))
    assert talk.for_agent() == []
    talk.policy.overdue(HoldBack("s1", 2, HOLD, PROMPT))
    assert [each["id"] for each in talk.for_agent()] == ["p3"]


def test_the_clients_cancel_of_a_prompt_that_waits_reaches_the_agent_before_and_after(talk: JournalledTalk) -> None:
    (prompt,) = tell(talk)
    client_prompt(talk)
    assert talk.client(CANCEL) == [CANCEL]
    end(talk, request_id=prompt["id"], reason="cancelled")
    passed = talk.for_agent()
    assert [each.get("id", each["method"]) for each in passed] == ["p2", "session/cancel"]
    end(talk, request_id="p2")
    assert turns(talk) == ["end_turn", "cancelled", "cancelled"]


def test_prompts_that_wait_keep_their_order(talk: JournalledTalk) -> None:
    (prompt,) = tell(talk)
    client_prompt(talk, "p2")
    client_prompt(talk, "p3")
    end(talk, request_id=prompt["id"])
    assert [each["id"] for each in talk.for_agent()] == ["p2", "p3"]


def test_an_approval_of_a_plan_can_be_told_now(talk: JournalledTalk) -> None:
    to_agent, to_client = talk.steer("review", None, "ana", verdict=APPROVED, now=True)
    assert [each["method"] for each in to_agent] == ["session/prompt"]
    assert shown(to_client) == ["ana (planwire): approved"]


def own_request(talk: JournalledTalk) -> str:
    """The agent gets a prompt of the relay's own: its id."""
    (message,) = tell(talk)
    return str(message["id"])


def prompt_line(message_id: int | str) -> bytes:
    return request("session/prompt", message_id, sessionId="s1", prompt=[{"type": "text", "text": "Go on."}])


def test_a_prompt_of_a_batch_that_waits_becomes_a_line(talk: JournalledTalk) -> None:
    own = own_request(talk)
    assert talk.client(b"[%b]" % prompt_line("q")) == []
    end(talk, request_id=own)
    (sent,) = (each.data for each in talk.policy.for_agent() if isinstance(each, ToAgent))
    assert sent.endswith(b"}\n")


def test_what_the_client_says_next_does_not_overtake_a_prompt_that_waited(talk: JournalledTalk) -> None:
    own = own_request(talk)
    talk.client(prompt_line("q"))
    end(talk, request_id=own)
    assert talk.client(CANCEL) == []
    assert [each["method"] for each in talk.for_agent()] == ["session/prompt", "session/cancel"]


def test_a_request_of_the_clients_does_not_overtake_a_prompt_of_the_relays_own(talk: JournalledTalk) -> None:
    talk.look()
    talk.say("tell", None, "ana", text=VENDOR)
    talk.look()
    assert talk.client(request("session/set_mode", "m", sessionId="s1", modeId="code")) == []
    assert talk.client(request("session/load", "l", sessionId="s2", cwd="/project", mcpServers=[])) == []
    assert talk.actions[-1] == Meet("s2", False, "agent 1", "/project"), "known before the agent can answer"
    methods = [each["method"] for each in talk.for_agent()]
    assert methods == ["session/prompt", "session/set_mode", "session/load"]


def test_prompts_without_end_do_not_all_wait(talk: JournalledTalk) -> None:
    own_request(talk)
    talk.actions.clear()
    for number in range(65):
        assert talk.client(prompt_line(number)) == []
    assert [each["id"] for each in talk.for_agent()] == [*range(65)]
    assert sum(isinstance(each, HoldBack) for each in talk.actions) == 1, "one clock is enough for all of them"


def test_a_prompt_that_waits_reaches_the_agent_though_the_client_says_nothing_more(talk: JournalledTalk) -> None:
    own_request(talk)
    talk.client(prompt_line("q"))
    talk.policy.end_input()
    assert [each["id"] for each in talk.for_agent()] == ["q"]


def test_a_prompt_that_waits_can_be_cancelled_as_a_request(talk: JournalledTalk) -> None:
    own = own_request(talk)
    talk.client(prompt_line("q"))
    cancel = b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"q"}}'
    assert talk.client(cancel) == [cancel]
    end(talk, request_id=own)
    assert [each["method"] for each in talk.for_agent()] == ["session/prompt", "$/cancel_request"]
    assert talk.recorded(TurnEnded)[-1][1] == TurnEnded("end_turn")


def test_a_prompt_that_nobody_will_answer_begins_no_turn(talk: JournalledTalk) -> None:
    unanswered = prompt_line("q").replace(b'"id": "q", ', b"")
    assert talk.client(unanswered) == [unanswered]
    assert not talk.policy.is_working()
