"""What pages show of people's suggestions and words: over the plan, never in it, and never as anything but words."""

import re

import pytest

from planwire.model.events import ACP, PlanSet, ReviewAsked
from tests.web.board import items, markdown
from tests.web.steering import Here
from tests.web.test_hostile_content import PAYLOADS, Seen, check


def test_pages_of_the_past_and_dismissed_plans_offer_nothing_to_do(here: Here) -> None:
    here.write(items("pending"))
    here.act("add", text="Suggested step", seen=1)
    for page in (here.page("/history"), here.page("/compare"), here.board.page("/sessions")):
        for offered in ("data-steer", "data-target", "data-revision", "data-suggestion"):
            assert offered not in page
    assert "Suggested step" in here.page("/history")


@pytest.mark.parametrize("text", [False, True])
def test_suggestions_and_remarks_stand_over_the_steps_and_never_in_them(here: Here, text: bool) -> None:
    plan = markdown("- [ ] step 1\n- [ ] step 2\n- [ ] step 3\n", "main") if text else items(*["pending"] * 3)
    here.write(PlanSet(plan.plan, via=ACP))
    here.act("reword", target="s1", text="Other words")
    here.act("remove", target="s2")
    here.act("tick", target="s3")
    here.act("add", text="Behind one", after="s1")
    here.act("add", text="First of all", after="")
    here.act("add", text="At the end")
    here.act("comment", target="s2", text="Which one?")
    seen = check(here.page(""))
    rows = [row for tag, row in seen.tags if tag == "li" and ("data-step" in row or "ghost" in str(row.get("class")))]
    assert [row["id"] for row in rows] == ["p0-wr5-0", "p0-s1", "p0-wr4-0", "p0-s2", "p0-s3", "p0-wr6-0"]
    assert [("wants-reword" in str(row["class"]), "wants-remove" in str(row["class"])) for row in rows][1:4:2] == [
        (True, False),
        (False, True),
    ]
    assert "Which one?" in seen.words
    assert "Suggested by you: remove" in seen.words
    for words in ("Behind one", "First of all", "At the end"):
        assert words in seen.words
    buttons = [row["data-target"] for _, row in seen.tags if row.get("data-act") == "withdraw"]
    assert buttons == ["r5", "r1", "r4", "r2", "r7", "r3", "r6"], "each of them once, at its place"
    assert here.board.get(f"{here.address}/plans/main.md").text.split("## ◈ Suggestions")[0].count("Other words") == 0
    here.write(PlanSet(plan.plan, via=ACP))
    assert "Behind one" in here.page("")


def test_a_suggested_step_at_the_end_of_a_text_stands_behind_the_last_of_its_steps(here: Here) -> None:
    here.write(PlanSet(markdown("- Phase 1\n  - [ ] a\n- Phase 2\n  - [ ] b\n", "main").plan, via=ACP))
    here.act("add", text="At the end")
    rows = [row["id"] for tag, row in check(here.page("")).tags if tag == "li" and "id" in row]
    assert rows == ["p0-s1", "p0-s2", "p0-wr1-0"]


def test_a_suggestion_for_a_step_that_the_window_leaves_out_is_said_below(here: Here) -> None:
    here.write(items(*["completed"] * 70, "pending", "pending"))
    here.act("reword", target="s3", text="Far away")
    here.act("reword", target="s71", text="In sight")
    said = here.page().partition('id="p0-said"')[2]
    assert "Far away" in said
    assert "In sight" not in said
    assert 'id="p0-said"' not in here.page("/plans/main")


def test_a_proposal_that_has_ended_is_folded_below_the_living_plans(here: Here) -> None:
    here.write(markdown("# First\n\nWords.", "first"), ReviewAsked("first"))
    here.write(markdown("# Second\n\nWords.", "second"), ReviewAsked("second"))
    page = here.page()
    assert page.index("Second") < page.index("First")
    fold = page.partition('<details id="p0-fold"')[2]
    assert "Replaced" in fold.partition("</summary>")[0]
    assert 'data-act="reopen"' in fold
    assert 'data-act="review"' not in fold
    assert here.act("reopen", "first").json()["words"] == "Plan reopened."
    assert "p0-fold" not in here.page()


def test_a_suggestion_that_came_true_is_gone_from_the_page(here: Here) -> None:
    here.write(items("pending", "pending"))
    here.act("tick", target="s1")
    assert "suggestion-status" in here.page("")
    here.write(items("completed", "pending"))
    assert "suggestion-" not in here.page("")


def test_a_page_says_which_steps_are_to_be_run_and_whether_the_plan_changed_since_its_approval(here: Here) -> None:
    here.write(items("pending", "pending"))
    here.act("select", steps=["s2"], text="Only this.")
    page = here.page("")
    assert "run “step 2”" in page
    assert "Only this." in page
    assert "approved" not in page
    assert '<span class="tag tag-to-run">to run</span>' in page
    here.act("review", verdict="approved")
    here.write(items("completed", "pending"))
    assert "plan changed since" not in here.page("")
    here.write(items("completed", "pending", "pending"))
    page = here.page("")
    assert page.count("plan changed since") == 1
    assert '<span class="tag tag-to-run">to run</span>' in page


@pytest.mark.parametrize("text", ["- [ ] one\n- [ ] two\n", "1. one\n2. two\n", "- [ ] one\n\n- [ ] two\n"])
def test_the_steps_of_a_text_say_that_they_are_to_be_run(here: Here, text: str) -> None:
    here.write(markdown(text))
    here.act("select", "text", steps=["s2"])
    assert re.findall(r"(one|two)</span>(?:</span>)? <span class=\"tag tag-(\S+)\">", here.page()) == [
        ("two", "to-run")
    ]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_words_of_people_are_words_on_every_page_and_in_every_answer(here: Here, payload: str) -> None:
    text = f"x {payload.replace(chr(0), '')}"
    here.write(items("pending", "pending"), PlanSet(markdown("- [ ] one\n- [ ] two\n").plan, via=ACP))
    for plan in ("main", "text"):
        suggestions = [{"do": "add", "content": text, "after": "s1"}, {"do": "reword", "step": "s2", "content": text}]
        answer = here.act("suggest", plan, changes=suggestions, text=text)
        assert answer.status_code == 200, answer.text
        comments = [{"text": text, "step": "s1"}, {"text": text}]
        assert here.act("review", plan, verdict="commented", comments=comments).is_success
    for page in ("", "/plans/main", "/history", "/compare?from=1&to=6"):
        check(here.page(page))
    here.write(items("pending"))
    moved = here.act("reword", target="s2", text=text, seen=1)
    assert moved.status_code == 409
    check(moved.json()["html"])


def test_the_words_of_a_task_are_there_as_they_were_written(here: Here) -> None:
    here.write(markdown("- [ ] plain words\n- [ ] Run the **whole** `suite` & [more](https://example.org)\n"))
    rows = [row for tag, row in Seen(here.page("")).tags if "data-step" in row]
    assert [row.get("data-text") for row in rows] == [
        None,
        "Run the **whole** `suite` & [more](https://example.org)",
    ]


def test_rows_say_no_more_than_which_step_they_are(here: Here) -> None:
    """And which words, for those who decide on what they saw. Thousands of rows are sent to a thousand watchers."""
    here.write(items(*["pending"] * 50))
    page = here.page("")
    row = page.partition('<li id="p0-s7"')[2].partition("</li>")[0]
    assert len(row) < 215, row


def test_no_page_speaks_of_wishes(here: Here) -> None:
    here.write(items("pending"))
    here.act("add", text="Suggested step")
    for page in ("", "/plans/main", "/history", "/compare"):
        assert "wish" not in here.page(page).lower()
