"""Acts on a plan that moved on: refused with the difference, so that the person decides again."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planwire.model.events import COMMENT, SUGGESTION, MessageAdded, PlanChanged, PlanRemoved, PlanSet, Remarked
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.step_changes import AddStep, RewordStep, SetStatus
from tests.web.board import items
from tests.web.steering import Here
from tests.web.test_hostile_content import check


def listed(*contents: str) -> PlanSet:
    return PlanSet(ItemsPlan("main", tuple(Entry(each, "medium", "pending") for each in contents)), via="tools")


@pytest.mark.parametrize(
    ("name", "body"), [("reword", {"target": "s3", "text": "x"}), ("review", {"verdict": "approved"})]
)
def test_what_was_meant_for_an_earlier_revision_is_refused_with_the_difference(
    here: Here, name: str, body: dict[str, Any]
) -> None:
    here.write(items("pending", "pending", "pending"))
    here.write(items("completed", "in_progress"))
    answer = here.act(name, seen=1, **body)
    assert answer.status_code == 409
    value = answer.json()
    assert (value["error"], value["seen"], value["revision"]) == ("moved_on", 1, 2)
    assert "changed since you looked at it" in value["message"]
    assert [word["kind"] for word in value["moments"][0]["words"]] == ["completed", "in_progress", "removed"]
    seen = check(value["html"])
    assert "step 3" in seen.words
    assert [row["class"] for _, row in seen.tags if (row.get("class") or "").startswith("fact")] == [
        *("fact", "fact", "fact number", "fact")
    ]
    assert [row["data-pair"] for tag, row in seen.tags if tag == "tr" and "data-pair" in row] == [
        "changed",
        "changed",
        "removed",
    ]
    assert len(here.events()) == 2


def test_an_agent_that_ticks_off_its_list_turns_nobody_away(here: Here) -> None:
    here.write(items("pending", "pending", "pending"))
    here.write(items("completed", "in_progress", "pending"))
    for name, body in (
        ("reword", {"target": "s2", "text": "x"}),
        ("tick", {"target": "s3"}),
        ("comment", {"target": "s1", "text": "hm"}),
        ("review", {"verdict": "approved"}),
    ):
        assert here.act(name, seen=1, **body).status_code == 200


def test_it_is_said_which_of_the_steps_that_were_meant_are_gone_and_what_is_left_to_do(here: Here) -> None:
    here.write(listed("one", "two", "three"))
    here.write(listed("one"))
    moved = here.act("reword", target="s2", text="x", seen=1).json()
    assert (moved["missing"], moved["anyway"]) == (["s2"], False)
    assert moved["instead"] == {"label": "Add as a new step", "act": {"act": "add", "text": "x"}}
    moved = here.act("add", after="s3", text="y", seen=1).json()
    as_shown = {"seen": moved["revision"], "anyway": True}
    assert moved["instead"] == {"label": "Add at the end", "act": {"act": "add", "text": "y", **as_shown}}
    moved = here.act("select", steps=["s1", "s3"], seen=1).json()
    assert moved["missing"] == ["s3"]
    assert moved["instead"] == {"label": "Run the other one", "act": {"act": "select", "steps": ["s1"], **as_shown}}
    assert here.act("tick", target="s2", seen=1).json()["instead"] is None


def test_an_act_without_seen_is_for_the_plan_as_it_is(here: Here) -> None:
    here.write(listed("one", "two"))
    here.write(PlanChanged("main", None, (RewordStep("s1", "one, reworded"),)))
    moved = here.act("reword", target="s1", text="mine", seen=1).json()
    assert (moved["anyway"], moved["missing"]) == (True, [])
    assert here.act("reword", target="s1", text="mine").status_code == 200
    assert here.contents() == ["mine", "two"]


def test_an_edited_text_is_merged_and_what_does_not_fit_comes_back_as_a_text(here: Here) -> None:
    here.write(listed("one", "two"))
    here.write(PlanChanged("main", None, (RewordStep("s1", "one, reworded"),)))
    moved = here.act("suggest", seen=1, plan_text="[ ] mine {s1}\n[x] two {s2}\n").json()
    assert moved["anyway"] is False
    assert moved["text"] == "[ ] one, reworded {s1}\n[x] two {s2}\n# You wrote:\n# [ ] mine {s1}\n"
    assert here.act("suggest", seen=moved["revision"], plan_text=moved["text"]).status_code == 200
    assert [step.status for step in here.record().state.steps] == ["pending", "completed"]


def test_an_edited_text_of_a_plan_that_was_emptied_meanwhile_comes_back(here: Here) -> None:
    here.write(listed("one"))
    here.write(listed())
    moved = here.act("suggest", seen=1, plan_text="[x] one {s1}\n")
    assert (moved.status_code, moved.json()["text"]) == (409, "# You wrote:\n# [x] one {s1}\n")


def test_a_dismissed_plan_is_not_found_and_says_so_in_the_words_of_every_face(here: Here) -> None:
    here.write(listed("one"))
    here.write(PlanRemoved("main"))
    answer = here.act("tick", target="s1", seen=1)
    assert (answer.status_code, answer.json()) == (404, {"error": "The plan was dismissed. Nothing was changed."})
    assert here.board.get(f"{here.address}/plans/main/text").status_code == 404


def test_another_persons_suggestion_for_the_plan_is_no_reason_to_ask_again(here: Here) -> None:
    here.write(items("pending", "pending"))
    here.write(Remarked("main", SUGGESTION, changes=(AddStep("Write tests"),)), by="ana")
    assert here.act("tick", target="s1", seen=1).status_code == 200


def test_what_nobody_can_see_is_no_reason_to_ask_again(here: Here) -> None:
    """An agent sends the same list again: the revision is another one, and the page looks the same."""
    here.write(items("pending", "pending"))
    here.write(Remarked("main", COMMENT, "hm", 1), by="ana")
    here.write(items("pending", "pending"))
    here.write(MessageAdded({"role": "user", "content": "hello"}))
    answer = here.act("tick", target="s1", seen=1).json()
    assert (answer["revision"], answer["from"], answer["suggestion"]) == (3, 3, True)
    here.write(items("pending", "pending"))
    assert here.act("review", verdict="approved", seen=3).status_code == 200
    assert here.record().reviews[-1].revision == 6


@pytest.mark.parametrize("seen", [0, 3, 2**50])
def test_a_revision_that_never_was_is_refused(here: Here, seen: int) -> None:
    here.write(items("pending"), items("pending"))
    assert here.act("tick", target="s1", seen=seen).status_code == 409
    assert len(here.events()) == 2


def test_of_many_who_reword_a_step_one_does_and_the_others_are_asked_again(here: Here) -> None:
    here.write(items(*["pending"] * 8, via="tools"))
    start = threading.Barrier(8)

    def change(number: int) -> int:
        start.wait(10)
        return here.act("reword", target="s1", text=f"as {number} says", seen=1).status_code

    with ThreadPoolExecutor(8) as people:
        assert sorted(people.map(change, range(8))) == [200] + [409] * 7
    assert len(here.events()) == 2


def test_many_who_change_different_steps_do_so(here: Here) -> None:
    here.write(items(*["pending"] * 8, via="tools"))
    with ThreadPoolExecutor(8) as people:
        answers = [*people.map(lambda n: here.act("tick", target=f"s{n}", seen=1).status_code, range(1, 9))]
    assert answers == [200] * 8
    assert here.record().state.progress.done == 8


def test_a_remark_that_is_answered_is_the_persons_own_and_not_that_of_who_came_after(here: Here) -> None:
    here.write(items("pending", "pending"))
    agent = threading.Thread(target=lambda: [here.write(items("pending", "completed")) for _ in range(12)])
    agent.start()
    for number in range(8):
        changes = [{"do": "status", "step": "s1", "status": "completed"}]
        answer = here.act("suggest", seen=here.record().revision, changes=changes, text=f"word {number}")
        if answer.status_code == 200:
            made = answer.json()["remark"]
            [own] = [each for each in here.record().remarks if each.id == made]
            assert (own.by, own.text) == ("user", f"word {number}")
    agent.join()


def test_a_tick_means_what_the_person_saw(here: Here) -> None:
    here.write(items("pending", via="tools"))
    here.write(PlanChanged("main", None, (SetStatus("s1", "completed"),)))
    assert here.act("tick", target="s1", seen=1).json()["unchanged"] is True
    assert here.record().state.progress.done == 1
