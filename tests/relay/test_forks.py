"""Sessions that branch off or go on behind the relay: what the journal, the agent and the client have of them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.journal import Journal, load_state, open_journal
from planwire.model.events import PlanSet, SessionForked, SessionOpened
from planwire.session.blocking import BlockingPlanSession
from tests.agents.driving import JournalledTalk, Talk
from tests.relay.test_tools import SERVER
from tests.wire import JSON, answer, entry, line, plan, refusal, request, text, update_of


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path / "plans.db") as journal:
        yield journal


def fork(talk: JournalledTalk, parent: str = "s1", name: str = "f1", *retold: bytes) -> list[JSON]:
    """Fork a session. What the client gets beside the answer and what is retold."""
    talk.client(request("session/fork", "f", sessionId=parent, cwd="/project", mcpServers=[]))
    for each in retold:
        assert talk.agent(each) == [each]
    assert talk.agent(answer("f", {"sessionId": name})) == [answer("f", {"sessionId": name})]
    talk.look()
    return [each["params"] for each in talk.for_client()]


def steps(journal: Journal, session: str) -> list[tuple[str, str]]:
    return [
        (step.content, step.status)
        for record in load_state(journal, session).living().values()
        for step in record.state.steps
    ]


def test_a_fork_begins_with_its_parents_plans_and_both_name_each_other(journal: Journal) -> None:
    talk = JournalledTalk(journal)
    talk.agent(plan(entry("a", "completed"), entry("b")))
    (shown,) = fork(talk)
    assert steps(journal, "f1") == steps(journal, "s1") == [("a", "completed"), ("b", "pending")]
    openings = [each.event for each in journal.read("f1") if isinstance(each.event, SessionOpened)]
    assert [each.forked.session for each in openings if each.forked] == ["s1"]
    assert [each.event.session for each in journal.read("s1") if isinstance(each.event, SessionForked)] == ["f1"]
    assert (shown["sessionId"], [each["content"] for each in shown["update"]["entries"]]) == ("f1", ["a", "b"])
    talk.agent(plan(entry("a", "completed"), entry("b", "completed"), session="f1"))
    talk.catch_up()
    assert steps(journal, "f1")[1] == ("b", "completed")
    assert steps(journal, "s1")[1] == ("b", "pending")


def test_a_fork_of_a_session_that_another_relay_recorded_has_its_plans_too(journal: Journal) -> None:
    JournalledTalk(journal).agent(plan(entry("a")))
    later = JournalledTalk(journal, begun=False)
    later.begin(session="s9")
    fork(later)
    assert steps(journal, "f1") == [("a", "pending")]


def test_a_fork_of_a_session_that_nobody_recorded_is_a_new_one(journal: Journal) -> None:
    talk = JournalledTalk(journal)
    assert fork(talk, "unheard") == []
    assert steps(journal, "f1") == []
    talk.agent(plan(entry("x"), session="f1"))
    talk.catch_up()
    assert steps(journal, "f1") == [("x", "pending")]


def test_what_an_agent_retells_of_a_fork_is_history(journal: Journal) -> None:
    """Some agents retell it before the answer that names the fork."""
    talk = JournalledTalk(journal)
    talk.agent(plan(entry("a")))
    talk.agent(plan(entry("a", "completed"), entry("b")))
    before = [plan(entry("a"), session="f1"), plan(entry("a", "completed"), entry("b"), session="f1")]
    assert fork(talk, "s1", "f1", *before) == []
    assert len([each for each in journal.read("f1") if isinstance(each.event, PlanSet)]) == 2
    assert steps(journal, "f1") == [("a", "completed"), ("b", "pending")]


def test_what_a_session_is_that_is_spoken_of_while_forks_are_open_only_its_answer_says(journal: Journal) -> None:
    talk = JournalledTalk(journal)
    talk.agent(plan(entry("a")))
    talk.client(request("session/new", "n", cwd="/project", mcpServers=[]))
    talk.agent(answer("n", {"sessionId": "s2"}))
    talk.agent(plan(entry("b"), session="s2"))
    for name, parent in (("f1", "s1"), ("f2", "s2")):
        talk.client(request("session/fork", name, sessionId=parent, cwd="/project", mcpServers=[]))
    talk.client(request("session/new", "s3", cwd="/project", mcpServers=[]))
    talk.agent(plan(entry("c"), session="s3"))
    talk.agent(line({"sessionUpdate": "session_info_update", "title": "A branch"}, session="f2"))
    for name in ("s3", "f2", "f1"):
        talk.agent(answer(name, {"sessionId": name}))
    talk.look()
    assert [steps(journal, name) for name in ("f1", "f2", "s3")] == [[(each, "pending")] for each in "abc"]
    opened = load_state(journal, "f2").opened
    assert opened is not None
    assert opened.title == "A branch"


def test_a_fork_that_fails_leaves_nothing_behind_and_what_it_was_may_still_go_on(journal: Journal) -> None:
    talk = JournalledTalk(journal)
    talk.agent(plan(entry("a")))
    talk.client(request("session/fork", "f", sessionId="s1", cwd="/project", mcpServers=[]))
    talk.agent(plan(entry("b"), session="f1"))
    talk.agent(refusal("f"))
    talk.look()
    assert not journal.last_seq("f1")
    talk.agent(plan(entry("b", "completed"), session="f1"))
    talk.catch_up()
    assert steps(journal, "f1") == [("b", "completed")]


@pytest.mark.parametrize("is_mentioned", [False, True])
def test_a_session_that_the_client_prompts_while_a_fork_is_open_is_no_fork(
    journal: Journal, is_mentioned: bool
) -> None:
    talk = JournalledTalk(journal)
    talk.agent(plan(entry("a")))
    talk.client(request("session/fork", "f", sessionId="s1", cwd="/project", mcpServers=[]))
    if is_mentioned:
        talk.agent(plan(entry("x"), session="old"))
    talk.prompt(session="old")
    talk.agent(plan(entry("x", "completed"), session="old"))
    talk.agent(answer("f", {"sessionId": "f1"}))
    talk.look()
    assert (steps(journal, "old"), steps(journal, "f1")) == ([("x", "completed")], [("a", "pending")])


def test_the_relays_words_are_no_part_of_what_is_retold_of_a_fork(journal: Journal) -> None:
    talk = JournalledTalk(journal)
    talk.agent(plan(entry("a")))
    talk.steer("comment", text="Smaller.")
    block = talk.told()
    assert "Smaller." in block
    talk.client(request("session/fork", "f", sessionId="s1", cwd="/project", mcpServers=[]))
    echo = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": block}}
    assert talk.agent(line(echo, session="f1")) == []


def test_an_agent_that_was_told_of_its_tools_is_not_told_again_in_a_fork() -> None:
    """The journal may not have answered yet."""
    talk = Talk(server=SERVER)
    assert len(talk.prompt()["params"]["prompt"]) == 2
    talk.end_turn()
    talk.client(request("session/fork", "f", sessionId="s1", cwd="/project", mcpServers=[]))
    talk.agent(answer("f", {"sessionId": "f1"}))
    assert len(talk.prompt(session="f1")["params"]["prompt"]) == 1


def test_the_tools_of_a_fork_have_its_parents_plan(journal: Journal) -> None:
    talk = JournalledTalk(journal, server=SERVER)
    with BlockingPlanSession.open(journal, "s1") as mine:
        mine.call("set_plan", {"entries": ["a", "b"]})
    talk.look()
    talk.for_client()
    (shown,) = fork(talk)
    assert [each["content"] for each in shown["update"]["entries"]] == ["a", "b"]
    with BlockingPlanSession.open(journal, "f1") as fork_of_mine:
        found = fork_of_mine.call("get_plan", {})
        assert [each["content"] for each in found["plan"]["steps"]] == ["a", "b"]


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_client_is_shown_the_list_that_the_agent_does_not_retell(journal: Journal, method: str) -> None:
    """Of a load with its history, before the answer (R37); of a resume, which has none, behind it (R38)."""
    JournalledTalk(journal).agent(plan(entry("a"), entry("b")))
    talk = JournalledTalk(journal, begun=False)
    talk.begin(session="s9")
    talk.client(request(method, "l", sessionId="s1", cwd="/project", mcpServers=[]))
    *before, answered = talk.agent(answer("l", {}))
    assert answered == answer("l", {})
    talk.look()
    behind = [json.dumps(each).encode() for each in talk.for_client()]
    (shown,) = before if method == "session/load" else behind
    assert not (before if method == "session/resume" else behind)
    assert [each["content"] for each in update_of(shown)["entries"]] == ["a", "b"]


@pytest.mark.parametrize("first", [answer("l0", {}), refusal("l0")], ids=["both are answered", "one is refused"])
def test_what_is_retold_for_a_load_is_history_while_an_answer_to_another_one_comes(
    journal: Journal, first: bytes
) -> None:
    talk = JournalledTalk(journal, server=SERVER)
    history = [plan(entry("a")), plan(entry("a", "completed"))]
    for each in history:
        talk.agent(each)
    talk.look()
    for number in (0, 1):
        talk.client(request("session/load", f"l{number}", sessionId="s1", cwd="/project", mcpServers=[]))
    for last in (first, refusal("l1")):
        for each in history:
            talk.agent(each)
        talk.agent(last)
    talk.look()
    assert len([each for each in journal.read("s1") if isinstance(each.event, PlanSet)]) == 2
    with BlockingPlanSession.open(journal, "s1") as mine:
        mine.call("set_plan", {"entries": ["b"]})
    talk.look()
    assert talk.for_client(), "the session is open as it was"


def test_a_client_is_shown_no_plan_twice(journal: Journal) -> None:
    JournalledTalk(journal).agent(plan(entry("a")))
    talk = JournalledTalk(journal, begun=False)
    talk.begin(session="s9")
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project", mcpServers=[]))
    talk.agent(plan(entry("a"), session="s1"))
    assert talk.agent(answer("l", {})) == [answer("l", {})]
    talk.look()
    assert talk.for_client() == []


def test_a_text_that_a_v1_client_has_read_is_not_said_again(journal: Journal) -> None:
    JournalledTalk(journal).agent(text("p", "# How\n\nFirst the lexer."))
    talk = JournalledTalk(journal, begun=False)
    talk.begin(session="s9")
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project", mcpServers=[]))
    lines = talk.agent(answer("l", {}))
    assert not any(b"lexer" in each for each in lines)
