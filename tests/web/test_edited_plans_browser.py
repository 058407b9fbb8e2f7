"""A plan that is edited and approved in a real browser: nothing that a person typed gets lost."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect

from planwire.journal import Terms, load_state
from planwire.model.events import ACP, APPROVED, Choice, PlanReviewed, PlanSet, ReviewAsked, Told
from planwire.model.kinds import text_of
from planwire.model.plan import MarkdownPlan
from planwire.model.records import ANSWER, PlanRecord
from planwire.steering.reviews import EDIT_LABEL
from tests.waiting import until
from tests.web.browsing import photograph
from tests.web.stage import Stage

PROSE = "# Cache\n\nWe move the cache to Redis.\n\n- [ ] Hash the keys\n- [ ] Expire them\n"
EDITED = "# Cache\n\nWe keep the cache.\n\n- [ ] Hash the keys"
OPTIONS = Choice("approve", "Approve", "allow_once"), Choice("changes", "Request changes", "reject_once")


@contextmanager
def held(stage: Stage) -> Iterator[None]:
    """A hook holds a plan back."""
    lease = stage.board.journal.lease(stage.session, Terms("hook", can=("answer", "words"), question="q1"))
    stage.write(PlanSet(MarkdownPlan("plan-mode", PROSE), via=ACP), ReviewAsked("plan-mode", OPTIONS, "q1", True))
    try:
        yield
    finally:
        lease.release()


def record(stage: Stage) -> PlanRecord:
    return load_state(stage.board.journal, stage.session).plans["plan-mode"]


def begin(page: Page) -> Locator:
    page.get_by_role("button", name=EDIT_LABEL).click()
    dialog = page.get_by_role("dialog", name=f"{EDIT_LABEL}: Cache")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    return dialog


def test_a_plan_is_edited_and_approved_while_the_page_goes_on(stage: Stage) -> None:
    with held(stage):
        page = stage.open()
        page.locator(".answer-form").get_by_role("textbox").fill("As discussed")
        dialog = begin(page)
        text = dialog.get_by_role("textbox")
        expect(text).to_have_value(PROSE)
        text.fill(EDITED)
        photograph(page, "edit-and-approve")
        stage.agent_sends("read", "write", done=1)
        expect(page.locator(".plan")).to_have_count(2)
        expect(text).to_have_value(EDITED)
        expect(text).to_be_focused()
        page.keyboard.press("Control+Enter")
        expect(dialog).to_have_count(0)
        expect(page.locator(".toast")).to_contain_text("Approved as you edited it, with 1 comment.")
        expect(page.locator(".answer-form")).to_have_count(0)
        now = record(stage)
        assert (text_of(now.state.plan), now.by, now.version) == (EDITED, "user", 2)
        assert [each.text for each in now.remarks] == ["As discussed"]
        stage.write(Told(ANSWER, 0, request="q1"), by="hook")
        expect(page.locator(".plan").first).to_contain_text("We keep the cache.")


def test_an_edited_text_stays_when_it_is_left_and_when_the_question_is_over(stage: Stage) -> None:
    with held(stage):
        page = stage.open()
        begin(page).get_by_role("textbox").fill(EDITED)
        page.keyboard.press("Escape")
        dialog = begin(page)
        expect(dialog.get_by_role("textbox")).to_have_value(EDITED)
        stage.write(PlanReviewed("plan-mode", 1, APPROVED, question="q1", answer="Approve"), by="client")
        until(lambda: record(stage).asked is None)
        dialog.get_by_role("button", name="Approve").click()
        expect(dialog.get_by_role("alert")).to_contain_text("The agent's question is over: “Approve” was the answer")
        expect(dialog.get_by_role("textbox")).to_have_value(EDITED)
        assert text_of(record(stage).state.plan) == PROSE


def test_an_edited_text_that_was_left_does_not_overwrite_what_the_agent_changed_since(stage: Stage) -> None:
    with held(stage):
        page = stage.open()
        begin(page).get_by_role("textbox").fill(EDITED)
        page.keyboard.press("Escape")
        changed = PlanSet(MarkdownPlan("plan-mode", PROSE.replace("Redis", "SQLite")), via=ACP)
        stage.write(changed, ReviewAsked("plan-mode", OPTIONS, "q1", True))
        expect(page.locator(".plan").first).to_contain_text("SQLite")
        dialog = begin(page)
        expect(dialog.get_by_role("textbox")).to_have_value(EDITED)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("dialog", name="The plan changed")).to_contain_text("SQLite")
        page.get_by_role("button", name="Discard").click()
        expect(dialog).to_have_count(0)
        assert "SQLite" in text_of(record(stage).state.plan)


def test_a_plan_is_edited_and_approved_in_the_inbox(stage: Stage) -> None:
    with held(stage):
        page = stage.open()
        page.goto(f"{stage.board.pages}/sessions")
        item = page.locator(f"#o-{stage.session}")
        item.get_by_role("button", name=EDIT_LABEL).click()
        dialog = page.get_by_role("dialog", name=f"{EDIT_LABEL}: Cache")
        dialog.get_by_role("textbox").fill(EDITED)
        dialog.get_by_role("button", name="Approve").click()
        expect(dialog).to_have_count(0)
        until(lambda: text_of(record(stage).state.plan) == EDITED)
