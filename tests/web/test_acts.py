"""Acts over HTTP: what each writes, what it answers, and that no act is written twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planwire import BlockingPlanSession
from planwire.chat.said import Said, said_in
from planwire.journal import load_state
from planwire.model.decide import undecided
from planwire.model.events import (
    ACP,
    APPROVED,
    COMMENT,
    REQUEST,
    SELECTION,
    SUGGESTION,
    Event,
    Passage,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    RemarkClosed,
    Remarked,
)
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.remarks import WITHDRAWN
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus
from planwire.steering.acts import ACTS
from planwire.steering.reviews import VIA
from tests.web.board import items, markdown
from tests.web.steering import TICK, Here
from tests.web.test_hostile_content import Seen


def changed(*changes: Any) -> PlanChanged:
    return PlanChanged("main", None, changes)


#: One request for each act, and the event that it writes.
WRITTEN: dict[str, tuple[dict[str, Any], Event]] = {
    "tick": ({"target": "s1"}, changed(SetStatus("s1", "completed"))),
    "set_status": ({"target": "s1", "status": "cancelled"}, changed(SetStatus("s1", "cancelled"))),
    "reword": ({"target": "s2", "text": "Other words"}, changed(RewordStep("s2", "Other words"))),
    "add": ({"text": "New", "after": "s1"}, changed(AddStep("New", "s1"))),
    "move": ({"target": "s3", "by": -1}, changed(MoveStep("s3", "s1"))),
    "remove": ({"target": "s1"}, changed(RemoveStep("s1"))),
    "set_priority": ({"target": "s2", "priority": "high"}, changed(SetPriority("s2", "high"))),
    "comment": ({"target": "s2", "text": "Why?"}, Remarked("main", COMMENT, "Why?", 1, "s2", about={"s2": "step 2"})),
    "review": ({"verdict": "approved"}, PlanReviewed("main", 1, APPROVED, via=VIA)),
    "select": (
        {"steps": ["s1", "s3"]},
        Remarked("main", SELECTION, "", 1, steps=("s1", "s3"), about={"s1": "step 1", "s3": "step 3"}),
    ),
    "suggest": ({"changes": [{"do": "remove", "step": "s3"}]}, changed(RemoveStep("s3"))),
    "dismiss": ({}, PlanRemoved("main")),
}


def test_there_is_a_case_for_every_act() -> None:
    assert {*WRITTEN, "withdraw", "reopen", "tell", "stop"} == set(ACTS)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_act_is_written_and_says_what_came_of_it(here: Here, name: str) -> None:
    here.write(items("pending", "pending", "pending", via="tools"))
    body, event = WRITTEN[name]
    answer = here.act(name, seen=1, **body)
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert (here.events()[-1].by, undecided(here.events()[-1].event)) == ("user", event)
    assert said["words"]
    remark = "r1" if isinstance(event, Remarked) else None
    assert (said["from"], said["suggestion"], said["remark"]) == (1, False, remark)
    assert said["revision"] == here.record().revision
    assert said["added"] == ("s4" if name == "add" else None)
    assert "unchanged" not in said


def test_a_change_of_an_agents_own_plan_is_a_suggestion_and_the_plan_stays_the_agents(here: Here) -> None:
    here.write(items("pending", "pending"))
    said = here.act("tick", target="s1", seen=1).json()
    assert (said["revision"], said["from"], said["suggestion"], said["remark"]) == (1, 1, True, "r1")
    assert said["words"].startswith("Suggested: ")
    assert [step.status for step in here.record().state.steps] == ["pending", "pending"]
    changes = [{"do": "status", "step": "s2", "status": "completed"}]
    here.act("suggest", seen=2, changes=changes, text="it was done before")
    assert [suggestion.note for suggestion in here.record().suggestions] == [None, "it was done before"]


def test_a_suggestion_is_withdrawn_once(here: Here) -> None:
    here.write(items("pending"))
    here.act("tick", target="s1", seen=1)
    said = here.act("withdraw", target="r1", seen=1).json()
    assert (said["revision"], said["from"], said["suggestion"], said["remark"]) == (1, 1, False, None)
    assert here.events()[-1].event == RemarkClosed("main", "r1", WITHDRAWN)
    assert here.record().suggestions == ()
    assert here.act("withdraw", target="r1", seen=1).json()["unchanged"] is True
    assert len(here.events()) == 3
    for remark in ("r0", "r2", "2", "s1"):
        answer = here.act("withdraw", target=remark, seen=1)
        assert answer.status_code == 422
        assert f"no remark '{remark}'" in answer.json()["error"]


def test_a_remark_and_a_plan_are_reopened(here: Here) -> None:
    here.write(items("pending", via="tools"))
    here.act("comment", target="s1", text="Why?")
    here.act("withdraw", target="r1")
    said = here.act("reopen", target="r1").json()
    assert said["words"].startswith("Reopened: “Why?”. The agent will see it with ")
    assert [each.id for each in here.record().open_remarks] == ["r1"]
    assert here.act("reopen").json()["unchanged"] is True
    here.act("dismiss")
    assert here.act("reopen").json()["words"] == "Plan reopened."
    assert not here.record().removed


def test_a_suggested_step_is_reworded_under_the_id_of_its_remark(here: Here) -> None:
    here.write(items("pending"))
    here.act("add", text="New", after="s1", seen=1)
    assert here.act("reword", target="r1", text="Newer", seen=1).status_code == 200
    assert [each.changes for each in here.record().suggestions] == [(AddStep("Newer", "s1"),)]


def test_the_newer_of_two_peoples_rewordings_replaces_the_other_and_says_whose_it_was(here: Here) -> None:
    here.write(items("pending"))
    here.write(Remarked("main", SUGGESTION, "", 1, changes=(RewordStep("s1", "as Ann wants it"),)), by="ann")
    words = here.act("reword", target="s1", text="as I want it", seen=1).json()["words"]
    assert "It replaces the suggestion by ann." in words
    assert [each.id for each in here.record().suggestions] == ["r2"]
    page = here.page()
    assert "Suggested by you, replacing the one by ann" in page
    assert "as Ann wants it" not in page.partition("closed")[0], "it is among those that are closed"


def test_the_tasks_of_a_text_are_changed_in_the_text(here: Here) -> None:
    here.write(markdown("# Title\n\nWords.\n\n- [ ] one\n  - [ ] in one\n- [ ] two\n"))
    changes = [
        {"do": "status", "step": "s2", "status": "in_progress"},
        {"do": "add", "content": "three"},
        {"do": "move", "step": "s3", "after": ""},
    ]
    assert here.act("suggest", "text", seen=1, changes=changes).status_code == 200
    text = "# Title\n\nWords.\n\n- [ ] two\n- [ ] one\n  - [~] in one\n- [ ] three\n"
    assert here.board.get(f"{here.address}/plans/text.md").text == text


def test_a_plan_is_edited_as_a_text(here: Here) -> None:
    here.write(items("pending", "completed", via="tools"))
    answer = here.board.get(f"{here.address}/plans/main/text")
    assert answer.text == "[ ] step 1 {s1}\n[x] step 2 {s2}\n"
    assert answer.headers["planwire-revision"] == "1"
    edited = "[x] step 1 {s1}\n[ ] new\n"
    assert here.act("suggest", seen=1, plan_text=edited).status_code == 200
    assert here.contents() == ["step 1", "new"]


def test_a_plan_of_thousands_of_steps_can_be_edited_as_text(here: Here) -> None:
    here.write(items(*["pending"] * 4_000))
    text = here.board.get(f"{here.address}/plans/main/text").text
    edited = "".join(line.replace("[ ]", "[x]", 1) if "{s7}" in line else line for line in text.splitlines(True))
    assert here.act("suggest", seen=1, plan_text=edited).json()["words"].startswith("Suggested: ")


def test_a_review_has_a_verdict_and_comments_and_a_selection_has_them_too(here: Here) -> None:
    here.write(items("pending", "pending"))
    comments = [{"text": "Careful.", "step": "s2"}]
    assert here.act("select", seen=1, text="Go on.", comments=comments, steps=["s1", "s2"]).status_code == 200
    assert [undecided(each.event) for each in here.events()[1:]] == [
        Remarked("main", SELECTION, "", 1, steps=("s1", "s2"), about={"s1": "step 1", "s2": "step 2"}),
        Remarked("main", COMMENT, "Go on.", 1),
        Remarked("main", COMMENT, "Careful.", 1, "s2", about={"s2": "step 2"}),
    ]
    quoted = [{"text": "Really?", "passage": {"text": "step 1"}}]
    assert here.act("review", seen=1, verdict="changes_requested", text="Smaller", comments=quoted).status_code == 200
    assert [undecided(each.event) for each in here.events()[4:]] == [
        PlanReviewed("main", 1, "changes_requested", via=VIA),
        Remarked("main", REQUEST, "Smaller", 1, review=5),
        Remarked("main", COMMENT, "Really?", 1, passage=Passage("step 1", "", " step 2"), review=5),
    ]


@pytest.mark.parametrize("plan_id", [None, "a/b?c#d.json", "plän", "~~"])
def test_plans_of_any_name_are_steered_at_the_address_that_their_page_says(here: Here, plan_id: str | None) -> None:
    here.write(items("pending", plan_id=plan_id, via="tools"))
    [address] = [row["data-steer"] for _, row in Seen(here.page()).tags if "data-steer" in row]
    assert address is not None
    assert here.act("tick", address.rpartition("/")[2], target="s1", seen=1).status_code == 200
    assert load_state(here.journal, here.session).plans[plan_id].state.progress.done == 1


# ------------------------------------------------------------------ the same once more, because the answer was lost


@pytest.mark.parametrize("name", [*WRITTEN])
def test_an_act_that_is_sent_twice_under_one_name_is_written_once_and_answered_the_same(here: Here, name: str) -> None:
    here.write(items("pending", "pending", "pending", via="tools"))
    body, _ = WRITTEN[name]
    first, second = (here.act(name, key="k1", seen=1, **body) for _ in range(2))
    assert (second.status_code, second.json()) == (200, first.json())
    assert len(here.events()) == 2


def test_acts_of_one_name_at_the_same_time_are_written_once(here: Here) -> None:
    here.write(items("pending", via="tools"))
    with ThreadPoolExecutor(6) as people:
        answers = [*people.map(lambda _: here.act("add", key="k2", seen=1, text="New").json(), range(6))]
    assert len(here.events()) == 2
    assert all(answer == answers[0] for answer in answers)


def test_an_act_that_was_refused_is_tried_again_under_its_name(here: Here) -> None:
    here.write(items("pending", via="tools"))
    assert here.act("tick", key="k3", target="s2", seen=1).status_code == 422
    here.write(items("pending", "pending", via="tools"))
    assert here.act("tick", key="k3", target="s2", seen=2).status_code == 200


@pytest.mark.parametrize("name", ["tick", "set_status", "reword", "set_priority", "comment", "review", "select"])
def test_these_acts_say_nothing_new_when_they_are_repeated_without_a_name(here: Here, name: str) -> None:
    here.write(items("pending", "pending", "pending", via="tools"))
    body, _ = WRITTEN[name]
    here.act(name, seen=1, **body)
    again = here.act(name, seen=1, **body)
    if name == "reword":
        assert again.status_code == 409
    else:
        assert again.json()["unchanged"] is True
        assert again.json()["words"].startswith("Nothing changes")
    assert len(here.events()) == 2


@pytest.mark.parametrize("via", ["tools", ACP])
def test_a_change_of_what_is_already_so_makes_no_revision(here: Here, via: str) -> None:
    here.write(items("in_progress", via=via))
    for _ in range(3):
        answer = here.act("set_status", target="s1", status="in_progress", seen=1)
        assert (answer.status_code, answer.json()) == (
            200,
            {
                "words": "Nothing changes: the plan already says so.",
                "revision": 1,
                "from": 1,
                "unchanged": True,
                "suggestion": False,
                "remark": None,
                "added": None,
            },
        )
    assert len(here.events()) == 1


def test_a_suggestion_that_is_open_is_not_written_again(here: Here) -> None:
    here.write(items("pending"))
    done = {"target": "s1", "status": "completed"}
    here.act("set_status", seen=1, **done)
    assert here.act("set_status", seen=1, **done).json()["unchanged"] is True
    assert here.act("suggest", seen=1, text="really").json()["remark"] == "r2"


# ------------------------------------------------------------------ agents


def test_what_a_person_did_reaches_an_agent_that_works_with_planwires_tools(here: Here) -> None:
    agent = BlockingPlanSession(here.journal, here.session)
    agent.call("set_plan", {"entries": ["Read the config", "Write the parser"]})
    agent.pending()
    here.act("select", seen=here.record().revision, steps=["s2"], text="in C")
    [told] = [message["content"] for message in agent.pending()]
    assert said_in(told) == (Said("user", "selection", "main", "s2"), Said("user", "comment", "main", "in C"))


def test_a_plan_of_the_agents_in_place_of_another_keeps_the_suggestions_that_it_does_not_contain(here: Here) -> None:
    here.write(items("pending", "pending"))
    here.act(TICK["act"], target=TICK["target"], seen=1)
    here.act("add", text="New", seen=2)
    entries = (Entry("step 1", "medium", "completed"), Entry("step 2", "medium", "pending"))
    here.write(PlanSet(ItemsPlan("main", entries), via=ACP))
    assert [suggestion.changes for suggestion in here.record().suggestions] == [(AddStep("New"),)]
