"""An author's typed methods: plans are made, changed, remembered and dismissed without a hand-written message."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planwire import (
    BlockingPlanSession,
    Entry,
    FilePlan,
    PlanSession,
    open_journal,
)
from planwire.chat.subkinds import EVENT_SUBKINDS
from planwire.errors import BadMessage, PlanError, PlanwireError, ToolError
from planwire.journal import Journal, load_state
from planwire.model.file_texts import state_with_text
from planwire.session.change import SessionChange
from planwire.session.file_plans import record_files
from planwire.session.moved_on import MovedOn
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.waiting import until


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    return BlockingPlanSession(journal, "s")


def told(plans: BlockingPlanSession) -> str:
    return str(plans.context())


# Making and dismissing


def test_a_plan_is_set_changed_and_dismissed_and_the_model_sees_it(plans: BlockingPlanSession) -> None:
    plans.set(["read", Entry("write", "high", "pending"), {"content": "test"}], summary="the shortest way")
    changed = plans.change(steps={"s1": "Done"}, add="ship", priority={"s3": "low"}, move={"s3": "s1"})
    assert [(each.id, each.status, each.priority) for each in changed.state.steps] == [
        ("s1", "completed", "medium"),
        ("s3", "pending", "low"),
        ("s2", "pending", "high"),
        ("s4", "pending", "medium"),
    ]
    assert "the shortest way" in told(plans)
    plans.remove()
    assert "<dismissed/>" in told(plans)
    assert plans.recap() == []
    assert plans.state.live() == {}


def test_the_reason_of_a_dismissal_is_the_last_note(plans: BlockingPlanSession) -> None:
    plans.set(["read"])
    plans.remove(reason="shipped")
    assert [note.text for note in plans.state.plans["main"].notes] == ["shipped"]


def test_who_expects_no_plan_replaces_none(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.set(["read"], expected_revision=0)
    other = BlockingPlanSession(journal, "s", by="bob")
    with pytest.raises(PlanwireError, match="changed since revision 0"):
        other.set(["write"], expected_revision=0)
    assert other.call("update_plan", {"note": "n", "expected_revision": 0})["error"]["code"] == "stale_revision"


@pytest.mark.parametrize("plan", [5, b"read", {"entries": ["read"]}, [5], None])
def test_what_is_no_plan_is_refused_in_words(plans: BlockingPlanSession, plan: Any) -> None:
    with pytest.raises(PlanwireError, match=r"a plan is a text, a list of steps|entries"):
        plans.set(plan)
    assert not plans.state.plans


def test_what_is_no_change_is_refused_in_words(plans: BlockingPlanSession) -> None:
    wrong: Any = 5
    plans.set(["read", "write"])
    for words in ({"add": [wrong]}, {"steps": wrong}, {"move": [wrong]}):
        with pytest.raises(PlanwireError, match=next(iter(words))):
            plans.change(**words)
    assert [step.id for step in plans.change(remove="s1").state.steps] == ["s2"]


def test_a_thought_or_a_mode_that_is_no_text_is_refused_before_it_does_harm(plans: BlockingPlanSession) -> None:
    wrong: Any = None
    with pytest.raises(TypeError, match="a thought must be a text, not NoneType: None"):
        plans.think(wrong)
    with pytest.raises(TypeError, match="a mode must be a text"):
        plans.switch_mode(wrong)
    assert plans.set(["read"]).version == 1


def test_many_finished_plans_that_were_dismissed_cost_nothing(plans: BlockingPlanSession) -> None:
    plans.set(["the work"])
    for number in range(30):
        plans.set(["part"], plan_id=f"part {number}")
        plans.remove(f"part {number}")
    assert len(plans.recap()) == 1
    plans.compact(tail=0)
    assert len(plans.context()) == 1


def test_a_file_plan_is_followed_and_known_by_its_steps(tmp_path: Path, journal: Journal) -> None:
    path = tmp_path / "plan.md"
    path.write_text("- [x] read\n- [ ] write\n")
    plans = BlockingPlanSession(journal, "s", folders=tmp_path)
    assert plans.file(path).state.plan == FilePlan("main", path.as_uri())
    assert plans.call("get_plan")["plan"]["progress"] == "1 of 2 done"
    path.write_text("- [x] read\n- [x] write\n")
    assert plans.call("get_plan")["plan"]["progress"] == "2 of 2 done"
    with pytest.raises(PlanwireError):
        plans.file(tmp_path / "missing.md", plan_id="other")
    path.unlink()
    assert "can't be read" in plans.call("get_plan")["plan"]["problem"]


def test_a_file_plan_keeps_to_the_rules_of_every_plan(tmp_path: Path, journal: Journal) -> None:
    path = tmp_path / "plan.md"
    path.write_text("- [ ] read\n")
    plans = BlockingPlanSession(journal, "s", folders=tmp_path)
    plans.set(["the work"])
    with pytest.raises(ToolError, match="not yours"):
        plans.child("s1", folders=tmp_path).file(path, plan_id="main")
    with pytest.raises(ToolError, match="the summary has"):
        plans.file(path, summary="x" * 20_000)
    with pytest.raises(ToolError, match="the plan_id has"):
        plans.file(path, plan_id="x" * 2_000)
    with pytest.raises(PlanwireError, match="another machine"):
        plans.file("file://elsewhere/plan.md")
    assert plans.file(path).revision == plans.file(path).revision, "the same once more changes nothing"


def test_what_a_model_would_read_as_an_error_an_author_gets_as_an_exception(plans: BlockingPlanSession) -> None:
    with pytest.raises(ToolError, match="there is no plan 'main'"):
        plans.note("so")
    plans.set(["read"])
    with pytest.raises(PlanwireError, match="dancing"):
        plans.change(steps={"s1": "dancing"})
    with pytest.raises(PlanwireError, match="s9"):
        plans.change(remove=["s9"])
    wrong: Any
    for wrong in (3, [["s1", "completed"]], "s1"):
        with pytest.raises(ToolError, match="names no step"):
            plans.change(steps=wrong)
    for wrong in (3, [3], [None]):
        with pytest.raises(ToolError):
            plans.set(wrong)
        with pytest.raises(ToolError):
            plans.change(add=wrong)


def test_a_single_step_may_stand_for_a_list_of_one(plans: BlockingPlanSession) -> None:
    plans.set({"content": "read"})
    plans.change(add={"content": "write", "priority": "high"})
    assert [each.content for each in plans.change(add="[1] test", remove="s1").state.steps] == ["write", "[1] test"]


# Notes


def test_notes_and_the_why_belong_to_the_plan_and_outlive_its_versions(plans: BlockingPlanSession) -> None:
    plans.set(["read"], summary="the shortest way")
    plans.note("the API key rotates daily")
    plans.set(["read", "write"])
    assert [each["text"] for each in plans.call("get_plan")["plan"]["notes"]] == ["the API key rotates daily"]
    for _ in range(2):
        plans.compact(tail=0)
        for words in ("the API key rotates daily", "the shortest way"):
            assert told(plans).count(words) == 1
            assert words in str(plans.recap())


# Events


@pytest.mark.parametrize("subkind", EVENT_SUBKINDS)
def test_an_event_of_every_subkind_is_told_with_its_source_and_payload(
    plans: BlockingPlanSession, subkind: str
) -> None:
    plans.set(["read"])
    row = EVENT_SUBKINDS[subkind]
    payload: dict[str, Any] = dict.fromkeys((f"{each}_" if each == "from" else each for each in row.payload), "x")
    payload |= {"plan_id": "main", "changes": []} if subkind == "plan_delta" else {}
    payload |= {"count": 3} if "count" in row.payload else {}
    name = plans.event(subkind, "it happened", **payload)
    message = plans._view.stream.message(name)
    assert message is not None
    assert "it happened" in told(plans) or "3 earlier x events" in told(plans)
    assert "from_" not in told(plans)


def test_there_are_eleven_subkinds_and_another_is_refused_with_all_of_them(plans: BlockingPlanSession) -> None:
    assert len(EVENT_SUBKINDS) == 11
    with pytest.raises(BadMessage, match="no subkind of events 'tock': use one of mode_switch, tool_decision"):
        plans.event("tock")


def test_a_changed_mode_is_a_mode_switch_once_and_the_next_plans_have_it(journal: Journal) -> None:
    plans = BlockingPlanSession(journal, "s", mode="plan")
    plans.set(["read"])
    again = BlockingPlanSession(journal, "s", mode="act")
    assert told(again).count("mode_switch") == 1
    assert "plan → act" in told(again)
    again.switch_mode("act")
    assert told(BlockingPlanSession(journal, "s", mode="act")).count("mode_switch") == 1
    assert again.set(["write"]).mode == "act"
    assert 'mode="act"' in told(again)


def test_a_pin_needs_a_message(plans: BlockingPlanSession) -> None:
    with pytest.raises(BadMessage, match="no message 'm1': `add` returns the ids of messages"):
        plans.pin("m1")


# What others do, and what is done twice


def test_a_change_is_told_with_what_changed_whoever_makes_it(journal: Journal, plans: BlockingPlanSession) -> None:
    heard: list[SessionChange] = []
    end = plans.on_change(heard.append)
    other = BlockingPlanSession(journal, "s", by="bob")
    other.set(["read"])
    until(lambda: heard)
    [change] = heard
    assert [(each.id, each.before) for each in change.plans] == [("main", None)]
    assert change.before.plans == {}
    assert change.state.plans["main"].by == "bob"
    end()
    plans.close()

    async def main() -> None:
        with open_journal("memory:") as shared:
            async with PlanSession.open(shared, "s") as session:
                news: asyncio.Queue[SessionChange] = asyncio.Queue()
                session.on_change(news.put)
                await session.set(["read"])
                assert (await asyncio.wait_for(news.get(), 20)).plans[0].id == "main"

    asyncio.run(main())


def test_a_listener_that_fails_or_writes_keeps_no_change_from_anyone_nor_out_of_order(
    plans: BlockingPlanSession, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[int] = []

    def fail(_: SessionChange) -> None:
        raise RuntimeError("boom")

    def write(change: SessionChange) -> None:
        if change.state.plans["main"].noted < 3:
            plans.note("once more")

    for listener in (fail, write, lambda change: heard.append(change.state.seq)):
        plans.on_change(listener)
    plans.set(["read"])
    assert heard == [1, 2, 3, 4]
    assert "a listener of session s failed" in caplog.text


def test_a_message_with_a_name_is_added_once_however_often_a_program_is_run_again(journal: Journal) -> None:
    for _ in range(3):
        again = BlockingPlanSession(journal, "s")
        again.add({"role": "user", "content": "once", "message_id": "request-1"})
        again.call("set_plan", {"entries": ["read"]}, call_id="call-1")
    assert told(again).count("once") == 1
    assert again.state.plans["main"].version == 1


def test_a_coroutine_listener_hears_changes_one_after_the_other_and_its_trouble_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[str] = []
    gate = asyncio.Event()

    async def hear(change: SessionChange) -> None:
        number = change.state.seq
        heard.append(f"begin {number}")
        await gate.wait()
        heard.append(f"end {number}")
        raise ValueError(f"trouble {number}")

    async def work() -> None:
        async with PlanSession.open("memory:", "listened") as plans:
            plans.on_change(hear)
            await plans.set(["read"])
            await plans.note("a note")
            assert heard == ["begin 1"]
            gate.set()
            while len(heard) < 4:
                await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(work(), 10))
    assert heard == ["begin 1", "end 1", "begin 2", "end 2"]
    said = [record.message for record in caplog.records if "listened" in record.message]  # others may still end
    assert said == ["a listener of session listened failed"] * 2


def test_a_session_without_a_loop_refuses_a_coroutine_listener(plans: BlockingPlanSession) -> None:
    async def hear(_: SessionChange) -> None: ...

    with pytest.raises(TypeError, match="calls a plain function: a PlanSession awaits one"):
        plans.on_change(hear)


def test_the_text_of_a_plan_file_is_before_the_model_and_its_changes_are_events(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("# Plan\n\n- [ ] lexer\n- [ ] grammar\n\nWords.\n")
    with BlockingPlanSession.open("memory:", "s", folders=tmp_path) as plans:
        record = plans.file("plan.md")
        assert [(step.id, step.content) for step in record.state.steps] == [("s1", "lexer"), ("s2", "grammar")]
        assert "Words." in str(plans.context())
        seq = plans.state.seq
        path.write_text("# Plan\n\n- [x] lexer\n- [ ] grammar\n- [ ] tests\n\nOther words.\n")
        told = str(plans.context()[-1])
        assert '<status step="s1">completed</status>' in told
        assert '<add id="s3" after="s2">tests</add>' in told
        assert "Other words." not in told, "a file that is saved often must not fill the context"
        assert "get_plan shows it" in told
        assert plans.state.seq == seq + 1
        assert "Other words." in plans.recap_text()
        assert "Other words." in str(plans.call("get_plan"))
        assert plans.state.seq == seq + 1
        with BlockingPlanSession(plans.journal, "s", folders=tmp_path) as other:
            other.context()
            writers = [each.by for each in plans.journal.read("s")]
            assert writers.count("file") == 2, "the first to notice it writes it"


def test_steps_of_a_plan_file_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("1. lexer\n2. grammar\n")
    with BlockingPlanSession.open("memory:", "s", folders=tmp_path) as plans:
        plans.file(path)
        done = steer(plans.journal, "s", "main", Wanted("select", steps=("s2",)), by="ann")
        assert done.words.startswith("To run: “grammar”.")
        for told in (str(plans.context()), plans.recap_text()):
            assert '<index step="s2" words="grammar"/>' in told
            assert ">s2</selection>" in told
        path.write_text("1. lexer\n2. grammar\n3. tests\n")
        assert '<add id="s3" after="s2">tests</add>' in str(plans.context())
        with pytest.raises(PlanError, match="This plan is a file: change it in an editor"):
            steer(plans.journal, "s", "main", Wanted("tick", "s2"), by="ann")


def test_a_text_that_somebody_saw_before_another_was_recorded_is_not_recorded_after_it(tmp_path: Path) -> None:
    """Faces look at a file at times of their own."""
    path = tmp_path / "plan.md"
    path.write_text("- [ ] first\n")
    with BlockingPlanSession.open("memory:", "s", folders=tmp_path) as plans:
        plans.file(path)
        seen, late = plans.state, {path.as_uri(): "- [ ] second\n"}.get
        path.write_text("- [ ] third\n")
        plans.recap_text()
        newest = plans.state
        assert record_files(plans.journal, seen, late).seq == newest.seq
        file = state_with_text(seen.plans["main"].state, late)
        act = Wanted("select", steps=("s1",), seen=seen.plans["main"].revision)
        with pytest.raises(MovedOn):
            steer(plans.journal, "s", "main", act, by="ann", file=file)
        assert load_state(plans.journal, "s").plans["main"].file == "- [ ] third\n"


@pytest.mark.parametrize("trouble", [Path.unlink, lambda path: path.write_bytes(b"\xff")])
def test_the_text_of_a_plan_file_that_cannot_be_read_any_more_is_told_as_that_of_the_last_look(
    tmp_path: Path, trouble: Callable[[Path], Any]
) -> None:
    path = tmp_path / "plan.md"
    path.write_text("- [ ] lexer\n")
    with BlockingPlanSession.open("memory:", "s", folders=tmp_path) as plans:
        plans.file(path)
        assert "means=" not in plans.recap_text()
        seq = plans.state.seq
        trouble(path)
        assert """means="as it was last read: the file can&apos;t be read now">\n- [ ] lexer""" in plans.recap_text()
        answer = plans.call("get_plan")["plan"]
        assert "its steps are those of the last look" in answer["problem"]
        assert [step["content"] for step in answer["steps"]] == ["lexer"]
        assert plans.state.seq == seq


@pytest.mark.parametrize("address", ["https://example.org/plan.md", "data:text/markdown,x", "file://host/plan.md"])
def test_an_address_that_is_no_file_is_refused_in_words(tmp_path: Path, address: str) -> None:
    with BlockingPlanSession.open("memory:", "s", folders=tmp_path) as plans:
        with pytest.raises(ToolError, match=r"can't be a plan file|is not a .md file"):
            plans.file(address)
        assert plans.state.plans == {}
