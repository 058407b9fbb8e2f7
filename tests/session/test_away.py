"""Sessions, tools and people's acts while the journal's server is away."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire import BlockingPlanSession, PlanSession
from planwire.errors import CannotWait, EngineAway
from planwire.journal import Once, Stamped, Terms, load_state, open_journal
from planwire.journal.away.journal import AwayJournal
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.waiting import NOT_YET, go_by_last_known, is_waiting, waiting_of
from planwire.model.events import ACP, Choice, PlanSet, Recorded, Remarked, ReviewAsked, TurnEnded
from planwire.model.plan import MarkdownPlan
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.sessions import Sessions
from planwire.session.pending_reviews import PendingReviews
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.journal.outages import Outage, behind, open_server, written_there
from tests.journals import items
from tests.waiting import eventually, until

PLAN = {"entries": [{"content": "Read"}, {"content": "Write"}]}
DONE = {"steps": {"s1": "completed"}}


def without_revision(text: str) -> str:
    return re.sub(r"revision=.[0-9]+.", "", text)


@pytest.fixture
def outage(tmp_path: Path) -> Outage:
    return Outage(tmp_path)


@pytest.fixture
def away(tmp_path: Path) -> Iterator[AwayJournal]:
    with behind(tmp_path) as journal:
        yield journal


def test_calls_of_tools_are_recorded_and_say_that_they_are_not_delivered_yet(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    plans = BlockingPlanSession(away, "s")
    assert "not_yet_delivered" not in plans.call("set_plan", PLAN)
    outage.begin()
    answer = plans.call("update_plan", DONE)
    assert not answer.is_error, answer
    assert answer["not_yet_delivered"] == NOT_YET
    assert plans.call("update_plan", {"steps": {"s2": "in_progress"}})["revision"] == answer["revision"] + 1
    outage.end()
    with open_server(tmp_path) as server:
        steer(server, "s", "main", Wanted("comment", text="Why?"))
    until(away.tend)
    after = plans.call("update_plan", {"steps": {"s2": "completed"}})
    assert not after.is_error, after
    assert [each["text"] for each in after["people"]] == ["Why?"]
    assert [step.status for step in plans.state.plans["main"].state.steps] == ["completed", "completed"]
    assert plans.state.seq == away.last_seq("s") < 20


def test_a_call_that_expects_a_revision_is_refused(away: AwayJournal, outage: Outage) -> None:
    plans = BlockingPlanSession(away, "s")
    revision = plans.call("set_plan", PLAN)["revision"]
    outage.begin()
    for _ in range(2):
        answer = plans.call("update_plan", {**DONE, "expected_revision": revision})
        assert answer["error"]["code"] == "engine_away"
        assert "expected_revision" in answer["error"]["hint"]
    outage.end()
    until(away.tend)
    assert not plans.call("update_plan", {**DONE, "expected_revision": revision}).is_error


@pytest.mark.parametrize("call_id", [None, "c1"], ids=["without an id", "with an id"])
def test_a_call_that_expects_a_revision_and_whose_answer_was_lost_is_not_said_to_be_unwritten(
    away: AwayJournal, outage: Outage, call_id: str | None
) -> None:
    plans = BlockingPlanSession(away, "s")
    revision = plans.call("set_plan", PLAN)["revision"]
    outage.deaf.touch()
    call = {"note": "Why not?", "expected_revision": revision}
    answer = plans.call("update_plan", call, call_id=call_id)
    assert answer["error"]["code"] == "engine_away"
    assert "may or may not have been written" in answer["error"]["message"]
    assert "expected_revision" not in answer["error"]["hint"]
    if call_id is not None:  # as a host that sends it again
        assert plans.call("update_plan", call, call_id=call_id) == answer
    outage.end()
    until(away.tend)
    assert away.last_seq("s") == 2


def test_a_call_with_an_id_whose_answer_was_lost_is_written_once(away: AwayJournal, outage: Outage) -> None:
    plans = BlockingPlanSession(away, "s")
    plans.call("set_plan", PLAN)
    outage.mute.touch()
    first = plans.call("update_plan", {"note": "Why not?"}, call_id="c1")
    assert not first.is_error
    outage.end()
    until(away.tend)
    assert plans.call("update_plan", {"note": "Why not?"}, call_id="c1")["revision"] == 2
    assert away.last_seq("s") == 2


def test_the_agent_may_replace_its_plan_when_the_server_is_back(away: AwayJournal, outage: Outage) -> None:
    plans = BlockingPlanSession(away, "s")
    outage.begin()
    assert not plans.call("set_plan", PLAN).is_error
    outage.end()
    until(away.tend)
    answer = plans.call("set_plan", {"entries": [{"content": "Other"}]})
    assert not answer.is_error, answer


def steps(folder: Path) -> list[tuple[str, str, str]]:
    """The steps of the plan as the server has it."""
    with open_server(folder) as server:
        return [(each.id, each.content, each.status) for each in load_state(server, "s").plans["main"].state.steps]


def add_elsewhere(folder: Path, content: str) -> None:
    """Have the agent of another machine, for which the server is not away, add a step."""
    with open_journal(folder / "journal.db") as server:
        assert not BlockingPlanSession(server, "s").call("update_plan", {"add": [content]}).is_error


@pytest.mark.parametrize("delivers", ["the same process", "another process"])
def test_who_names_a_step_that_waits_means_the_same_one_in_the_end_though_others_added_steps(
    delivers: str, outage: Outage, tmp_path: Path
) -> None:
    with behind(tmp_path) as journal:
        plans = BlockingPlanSession(journal, "s")
        plans.call("set_plan", PLAN)
        outage.begin()
        test, ship = plans.call("update_plan", {"add": ["Test", "Ship"]})["new_steps"]
        change = {"steps": {test: "completed"}, "reword": {ship: "Ship it"}, "move": {"s1": test}}
        assert not plans.call("update_plan", change).is_error
        [tell] = plans.call("update_plan", {"remove": ["s2"], "add": [{"content": "Tell", "after": ship}]})["new_steps"]
        until(lambda: [*tmp_path.glob("outbox/known/[!.]*")])
        with behind(tmp_path) as other:
            go_by_last_known(other)
            steer(other, "s", "main", Wanted("comment", tell, text="To whom?"))
        add_elsewhere(tmp_path, "Extra")
        if delivers == "another process":
            journal.close()
        outage.end()
        with behind(tmp_path) as another:
            until((another if delivers == "another process" else journal).tend)
    done, new = "completed", "pending"
    assert steps(tmp_path) == [
        *(("s3", "Extra", new), (test, "Test", done), ("s1", "Read", new), (ship, "Ship it", new)),
        (tell, "Tell", new),
    ]
    with open_server(tmp_path) as server:
        [remark] = load_state(server, "s").plans["main"].remarks
    assert (remark.text, remark.step) == ("To whom?", tell)


def test_a_step_is_the_same_one_after_an_outage_and_in_the_next(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    plans = BlockingPlanSession(away, "s")
    plans.call("set_plan", PLAN)
    outage.begin()
    [first] = plans.call("update_plan", {"add": ["Test"]})["new_steps"]
    add_elsewhere(tmp_path, "Extra")
    outage.end()
    until(away.tend)
    assert not plans.call("update_plan", {"reword": {first: "Test it"}}).is_error
    outage.begin()
    [second] = plans.call("update_plan", {"add": ["Ship"]})["new_steps"]
    plans.call("update_plan", {"steps": {first: "completed", second: "in_progress"}})
    add_elsewhere(tmp_path, "More")
    outage.end()
    until(away.tend)
    begun = {content: status for _, content, status in steps(tmp_path) if status != "pending"}
    assert begun == {"Test it": "completed", "Ship": "in_progress"}


def test_an_agent_that_does_nothing_between_two_outages_goes_on_in_the_second(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    plans = BlockingPlanSession(away, "s")
    plans.call("set_plan", PLAN)
    for n in range(20):  # more than a journal keeps of a session
        plans.call("update_plan", {"note": str(n)})
    for step in ("s1", "s2"):
        outage.begin()
        answer = plans.call("update_plan", {"steps": {step: "completed"}})
        assert answer["not_yet_delivered"] == NOT_YET
        outage.end()
        until(away.tend)
    outage.begin()
    assert [step.status for step in plans.state.plans["main"].state.steps] == ["completed", "completed"]
    assert "completed" in str(plans.context()[-1])
    outage.end()
    until(away.tend)
    with open_server(tmp_path) as server:
        assert server.last_seq("s") == 23
    assert plans.call("update_plan", {"note": "done"})["revision"] == 24


def test_a_chat_stays_when_the_server_goes_away_again_while_the_session_begins_anew(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(journal: SqliteJournal, session: str, *numbers: int) -> Iterator[Recorded]:
        for each in read(journal, session, *numbers):
            yield each
            outage.begin()

    read = SqliteJournal.read
    plans = BlockingPlanSession(away, "s")
    plans.call("set_plan", PLAN)
    for n in range(20):
        plans.call("update_plan", {"note": str(n)})
    outage.begin()
    plans.call("update_plan", DONE)
    before = plans.context()
    outage.end()
    until(away.tend)
    with monkeypatch.context() as patched:
        patched.setattr(SqliteJournal, "read", cut_short)
        assert plans.context() == before
        assert plans.call("update_plan", {"steps": {"s2": "completed"}})["not_yet_delivered"] == NOT_YET
    outage.end()
    until(away.tend)
    assert not plans.call("update_plan", {"note": "done"}).is_error
    assert [step.status for step in plans.state.plans["main"].state.steps] == ["completed", "completed"]
    assert away.last_seq("s") == 24


def test_a_session_opens_while_the_server_is_away_with_what_was_last_known_and_what_waits(
    outage: Outage, tmp_path: Path
) -> None:
    with behind(tmp_path) as before:
        plans = BlockingPlanSession(before, "s")
        revision = plans.call("set_plan", PLAN)["revision"]
        plans.call("update_plan", {"note": "Not on Friday"})
    outage.begin()
    with behind(tmp_path) as between:
        waiting = BlockingPlanSession(between, "s").call("update_plan", {**DONE, "add": ["Send"]}, call_id="c1")
        assert waiting["not_yet_delivered"] == NOT_YET
    written_there(tmp_path, "s", [Stamped(1, "user", Remarked("main", "comment", "Why?"))])
    with behind(tmp_path) as journal:
        plans = BlockingPlanSession(journal, "s")
        again = plans.call("update_plan", {**DONE, "add": ["Send"]}, call_id="c1")
        assert again["new_steps"] == waiting["new_steps"]
        [sending] = waiting["new_steps"]
        refused = plans.call("update_plan", {**DONE, "expected_revision": revision})
        assert refused["error"]["code"] == "engine_away"
        assert [step["status"] for step in plans.call("get_plan")["plan"]["steps"]] == [
            "completed",
            "pending",
            "pending",
        ]
        assert not plans.call("update_plan", {"steps": {sending: "completed"}}).is_error
        assert not plans.call("set_plan", {**PLAN, "plan_id": "second"}).is_error
        assert "Read" in str(plans.context())
        assert "Not on Friday" in str(plans.pending())
        outage.end()
        until(journal.tend)
        state = plans.refresh()
        assert set(state.plans) == {"main", "second"}
        assert [step.status for step in state.plans["main"].state.steps] == ["completed", "pending", "completed"]
        answer = plans.call("update_plan", {"steps": {"s2": "completed"}})
        assert [each["text"] for each in answer["people"]] == ["Why?"]
        assert "Not on Friday" not in str(plans.pending())


def test_a_compaction_in_a_session_that_was_opened_while_the_server_is_away_keeps_its_plan(
    outage: Outage, tmp_path: Path
) -> None:
    with behind(tmp_path) as before:
        BlockingPlanSession(before, "s").call("set_plan", PLAN)
    outage.begin()
    with behind(tmp_path) as journal:
        plans = BlockingPlanSession(journal, "s")
        for n in range(5):
            plans.add({"role": "user", "content": f"{n} " * 50})
        plans.call("update_plan", DONE)
        assert plans.compact(60, tail=1).left_out
        known = without_revision(str(plans.context()))
        assert "Write" in known
        outage.end()
        until(journal.tend)
        assert without_revision(str(plans.context())) == known


def test_a_session_that_is_not_known_here_opens_empty_and_has_its_past_when_the_server_is_back(
    outage: Outage, tmp_path: Path
) -> None:
    with open_server(tmp_path) as server:
        BlockingPlanSession(server, "s").call("set_plan", PLAN)
    outage.begin()
    with behind(tmp_path) as journal:
        plans = BlockingPlanSession(journal, "s")
        assert not plans.state.plans
        assert not plans.call("set_plan", {**PLAN, "plan_id": "second"}).is_error
        outage.end()
        until(journal.tend)
        assert set(plans.refresh().plans) == {"main", "second"}


def test_the_model_is_told_nothing_again_because_numbers_changed(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    plans = BlockingPlanSession(away, "s", by="user")
    agent = BlockingPlanSession(away, "s")
    plans.call("set_plan", PLAN)
    assert agent.pending()
    outage.begin()
    plans.call("update_plan", {"note": "Not on Friday"})
    told = agent.pending()
    assert "Not on Friday" in str(told)
    outage.end()
    with open_server(tmp_path) as server:
        BlockingPlanSession(server, "s", by="ann").call("update_plan", {"note": "From elsewhere", "plan_id": "main"})
    until(away.tend)
    again = str(agent.pending())
    assert "From elsewhere" in again
    assert "Not on Friday" not in again


@pytest.mark.parametrize("budget", [None, 70])
def test_a_compaction_of_messages_that_wait_keeps_the_same_ones_once_they_are_delivered(
    away: AwayJournal, outage: Outage, tmp_path: Path, budget: int | None
) -> None:
    plans = BlockingPlanSession(away, "s")
    plans.call("set_plan", PLAN)
    plans.add({"role": "user", "content": "before"})
    outage.mute.touch()
    plans.add({"role": "user", "content": "in doubt"})
    [name] = plans.add({"role": "assistant", "content": "meanwhile"})
    plans.call("update_plan", DONE)
    [last] = plans.add({"role": "user", "content": "the last"})
    if budget is None:
        plans.rebase()
    else:
        plans.compact(budget, tail=1)
    told = [without_revision(each["content"]) for each in plans.context()]
    assert "the last" in told
    outage.end()
    written_there(tmp_path, "s", [Stamped(1, "ann", TurnEnded("end_turn"))])  # so other numbers are the real ones
    until(away.tend)
    plans.refresh()
    assert [without_revision(each["content"]) for each in plans.context()] == told
    assert "1000000" not in str(plans.context())
    plans.pin(last if budget else name)


def test_a_session_that_follows_hears_of_all_that_came_meanwhile(outage: Outage, tmp_path: Path) -> None:
    async def main(journal: AwayJournal) -> None:
        async with PlanSession.open(journal, "s") as plans:
            await plans.call("set_plan", PLAN)
            heard: list[int] = []
            plans.on_change(lambda change: heard.append(change.state.seq))
            outage.begin()
            await plans.call("update_plan", DONE)
            assert is_waiting(heard[-1])
            outage.end()
            with open_server(tmp_path) as server:
                steer(server, "s", "main", Wanted("comment", text="Why?"))
            await eventually(lambda: plans.state.seq == 3)
            assert plans.state.remarked == 1

    with behind(tmp_path) as journal:
        asyncio.run(main(journal))


# People


def written(journal: AwayJournal) -> str:
    journal.append("s", [Stamped(1, "agent", PlanSet(items("main", "pending", "pending"), via=ACP))])
    return "s"


def test_a_comment_and_a_suggestion_wait_and_say_so(away: AwayJournal, outage: Outage, tmp_path: Path) -> None:
    session = written(away)
    state = steer(away, session, "main", Wanted("comment", text="First")).state
    outage.begin()
    said = steer(away, state, "main", Wanted("comment", target="s1", seen=1, text="Why?"))
    assert said.words.endswith(NOT_YET)
    assert is_waiting(said.state.seq)
    suggested = steer(away, said.state, "main", Wanted("tick", target="s2", seen=1))
    assert suggested.is_suggestion
    assert suggested.words.endswith(NOT_YET)
    outage.end()
    until(away.tend)
    with open_server(tmp_path) as server:
        assert sum(isinstance(each.event, Remarked) for each in server.read("s")) == 3


def test_a_comment_whose_answer_was_lost_waits_and_is_there_once(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    session = written(away)
    outage.deaf.touch()
    said = steer(away, session, "main", Wanted("comment", target="s1", text="Why?"))
    assert said.words.endswith(NOT_YET)
    outage.end()
    until(away.tend)
    with open_server(tmp_path) as server:
        [remark] = load_state(server, "s").plans["main"].remarks
    assert (remark.id, remark.text, remark.step) == (said.remark, "Why?", "s1")


def test_a_persons_change_of_a_plan_whose_answer_was_lost_does_not_come_later(
    away: AwayJournal, outage: Outage
) -> None:
    BlockingPlanSession(away, "s").call("set_plan", PLAN)
    state = load_state(away, "s")
    outage.deaf.touch()
    with pytest.raises(EngineAway, match="may or may not have been written"):
        steer(away, state, "main", Wanted("tick", target="s1", seen=1))
    assert waiting_of(away).count == 0


def test_remarks_that_the_server_has_and_remarks_that_wait_are_withdrawn(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    session = written(away)
    state = steer(away, session, "main", Wanted("comment", text="First")).state
    outage.begin()
    state = steer(away, state, "main", Wanted("comment", text="Why?")).state
    waiting = steer(away, state, "main", Wanted("comment", text="And?"))
    with open_journal(tmp_path / "journal.db") as server:
        steer(server, session, "main", Wanted("comment", text="By another"), by="ann")
    for target in (waiting.remark, "r1"):
        state = steer(away, state, "main", Wanted("withdraw", target=target)).state
    outage.end()
    until(away.tend)
    remarks = load_state(away, session).plans["main"].remarks
    assert {each.text: each.is_open for each in remarks} == {
        "First": False,
        "By another": True,
        "Why?": True,
        "And?": False,
    }


@pytest.mark.parametrize(
    "act",
    [Wanted("review", verdict="approved"), Wanted("review", verdict="changes_requested", text="No"), Wanted("dismiss")],
    ids=["approve", "request changes", "dismiss"],
)
def test_any_other_act_is_refused_and_says_why(away: AwayJournal, outage: Outage, act: Wanted, tmp_path: Path) -> None:
    state = steer(away, written(away), "main", Wanted("comment", text="First")).state
    outage.begin()
    with pytest.raises(EngineAway, match=r"example\.org can't be reached.*Nothing was written"):
        steer(away, state, "main", act)
    outage.end()
    until(away.tend)
    with open_server(tmp_path) as server:
        assert server.last_seq("s") == 2


@pytest.mark.parametrize("once", [None, Once("board", 1)], ids=["without a key", "with a key"])
@pytest.mark.parametrize(
    "act",
    [Wanted("review", verdict="approved"), Wanted("review", verdict="changes_requested", text="No"), Wanted("dismiss")],
    ids=["approve", "request changes", "dismiss"],
)
def test_an_act_whose_answer_was_lost_is_not_said_to_be_unwritten(
    away: AwayJournal, outage: Outage, act: Wanted, once: Once | None
) -> None:
    session = written(away)
    outage.deaf.touch()
    with pytest.raises(EngineAway, match=r"It may or may not have been written") as said:
        steer(away, session, "main", act, once=once)
    assert "Nothing was written" not in str(said.value)
    if once is not None:  # as a page that sends it again
        with pytest.raises(EngineAway, match=r"It may or may not have been written"):
            steer(away, session, "main", act, once=once)
    outage.end()
    until(away.tend)
    assert away.last_seq("s") > 1


@pytest.mark.parametrize(
    "act",
    [
        Wanted("review", option="yes", question="q1"),
        Wanted("review", verdict="approved", edited="# Another", seen=2, question="q1"),
        Wanted("tell", text="Hurry"),
        Wanted("tell"),
        Wanted("comment", text="Hurry", now=True),
        Wanted("stop"),
    ],
    ids=["answer", "edit and approve", "tell", "tell what was said", "comment now", "stop"],
)
@pytest.mark.parametrize("is_recalled", [False, True], ids=["a face that was open", "a command"])
def test_what_is_for_the_agent_now_is_refused_for_the_servers_sake_and_not_for_want_of_a_relay(
    outage: Outage, act: Wanted, is_recalled: bool, tmp_path: Path
) -> None:
    asked = ReviewAsked("main", (Choice("yes", "Go", "allow_once"),), "q1", takes_edit=True)
    with open_server(tmp_path) as server:
        server.append("s", [Stamped(1, "agent", each) for each in (PlanSet(MarkdownPlan("main", "# One")), asked)])
        server.lease("s", Terms("relay", True, ("answer", "tell", "stop", "steer")))
        with behind(tmp_path) as journal:
            state = steer(journal, "s", "main", Wanted("comment", text="First")).state
            outage.begin()
            if is_recalled:
                go_by_last_known(journal)
            with pytest.raises(CannotWait, match=r"example\.org can't be reached.*Nothing was written"):
                steer(journal, state, "main", act)
            outage.end()
            until(journal.tend)
            assert server.last_seq("s") == 3
            assert steer(journal, state, "main", act).state.seq > 3


def test_a_person_whose_face_knows_nothing_of_the_session_gets_a_clear_error(outage: Outage, tmp_path: Path) -> None:
    with behind(tmp_path) as journal:
        written(journal)
    outage.begin()
    with behind(tmp_path) as journal, pytest.raises(EngineAway, match=r"example\.org can't be reached"):
        steer(journal, "s", "main", Wanted("comment", text="Why?"))


def test_the_sessions_that_faces_show_stay_and_a_problem_says_what_waits(
    away: AwayJournal, outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pace in ("LOOK", "ROLL_CALL"):
        monkeypatch.setattr(f"planwire.readmodel.sessions.{pace}", 0.02)
    written(away)
    heard: list[str] = []
    sessions = Sessions(away, FilePlans(), heard.append)
    sessions.start()
    try:
        until(lambda: not sessions.loading and sessions.get("s") is not None)
        outage.begin()
        until(lambda: sessions.problem is not None)
        shown = sessions.get("s")
        assert shown is not None
        steer(away, shown.journalled, "main", Wanted("comment", text="Why?"))
        until(lambda: "1 record waits on this machine and will be delivered" in (sessions.problem or ""))
        shown = sessions.get("s")
        assert shown is not None
        assert shown.journalled.remarked == 1
        outage.end()
        until(lambda: sessions.problem is None)
        with open_server(tmp_path) as server:
            steer(server, "s", "main", Wanted("comment", text="And?"))
        until(lambda: sessions.get("s").journalled.remarked == 2)  # type: ignore[union-attr]
    finally:
        sessions.close()
    assert heard.count("") >= 3


def test_a_verdict_is_neither_handed_on_nor_undone_while_the_server_is_away(
    away: AwayJournal, outage: Outage, tmp_path: Path
) -> None:
    """It would wait on this machine, and on another one its author may undo it meanwhile."""
    plans = BlockingPlanSession(away, "s")
    plans.call("set_plan", PLAN)
    steer(away, "s", "main", Wanted("review", verdict="approved"), "ana", undo=60_000)
    outage.begin()
    assert not PendingReviews(away).hand_on(load_state(away, "s"), at_once=True)
    with pytest.raises(CannotWait):
        steer(away, "s", "main", Wanted("withdraw"), "ana")
    outage.end()
    with open_server(tmp_path) as server:
        steer(server, "s", "main", Wanted("withdraw"), "ana")
    until(away.tend)
    assert not PendingReviews(away).hand_on(load_state(away, "s"), at_once=True)
    assert load_state(away, "s").plans["main"].reviews == ()


def test_an_approval_of_other_words_does_not_hold_for_what_waited_meanwhile(outage: Outage, tmp_path: Path) -> None:
    with behind(tmp_path) as away:
        plans = BlockingPlanSession(away, "s")
        plans.call("set_plan", PLAN)
        plans.call("get_plan", {})
        outage.begin()
        for _ in range(2):
            done = [{"content": "Read", "status": "completed"}, {"content": "Write"}]
            assert not plans.call("set_plan", {"entries": done}).is_error
        with open_journal(tmp_path / "journal.db") as server:
            steer(server, "s", "main", Wanted("reword", "s2", text="Write nothing"), "ann")
            steer(server, "s", "main", Wanted("review", verdict="approved"), "ann")
        outage.end()
        until(away.tend)
    with open_server(tmp_path) as server:
        record = load_state(server, "s").plans["main"]
    assert [step.content for step in record.state.steps] == ["Read", "Write"]
    assert record.review is not None
    assert record.review.is_stale


def test_an_approval_of_the_same_words_holds_after_a_status_that_waited(outage: Outage, tmp_path: Path) -> None:
    with behind(tmp_path) as away:
        plans = BlockingPlanSession(away, "s")
        plans.call("set_plan", PLAN)
        outage.begin()
        plans.call("update_plan", DONE)
        with open_journal(tmp_path / "journal.db") as server:
            steer(server, "s", "main", Wanted("review", verdict="approved"), "ann")
        outage.end()
        until(away.tend)
    with open_server(tmp_path) as server:
        record = load_state(server, "s").plans["main"]
    assert record.review is not None
    assert not record.review.is_stale


def test_a_choice_of_steps_is_not_reopened_in_place_of_one_that_nobody_here_knows_of(
    away: AwayJournal, outage: Outage
) -> None:
    BlockingPlanSession(away, "s").call("set_plan", PLAN)
    for act in (Wanted("select", steps=("s2",)), Wanted("withdraw", "r1"), Wanted("comment", text="hm")):
        steer(away, "s", "main", act, "ann")
    steer(away, "s", "main", Wanted("withdraw", "r2"), "ann")
    outage.begin()
    with pytest.raises(CannotWait):
        steer(away, "s", "main", Wanted("reopen", "r1"), "ann")
    assert steer(away, "s", "main", Wanted("reopen", "r2"), "ann").words.endswith(NOT_YET)
