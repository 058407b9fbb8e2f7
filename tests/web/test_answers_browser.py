"""Answers from the board in a real browser, to a real agent behind a real relay, while its client asks as well."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from planwire.journal import load_state
from planwire.model.events import ReviewAsked
from tests.agents.asking import OPTIONS, SESSION
from tests.agents.driving import Relayed
from tests.waiting import until
from tests.web.board import Running, items, running_board
from tests.web.browsing import is_live, photograph
from tests.wire import request

PLAN = """\
# Limit login attempts

Count failures in Redis.

- [ ] Count failures
- [ ] Answer 429
- [ ] Mail the owner
"""
YES, ALWAYS, NO = (name for _, name, _ in OPTIONS)


class Editor:
    """The client's end of the agent, and the page of a person who is elsewhere."""

    def __init__(self, relayed: Relayed, board: Running, page: Page) -> None:
        self.relayed, self.board, self.page = relayed, board, page
        self.turns = 100
        relayed.begin()

    def prompt(self, text: str) -> None:
        self.turns += 1
        prompt = [{"type": "text", "text": text}]
        self.relayed.write(request("session/prompt", self.turns, sessionId=SESSION, prompt=prompt) + b"\n")

    def ask(self, plan: str = PLAN) -> Any:
        """Have the agent ask. Returns the id of the question that is open in the editor."""
        self.prompt(plan)
        asked = self.read(lambda message: message.get("method") == "session/request_permission")
        until(lambda: load_state(self.board.journal, SESSION).needs_person)
        return asked["id"]

    def end_of_turn(self) -> Any:
        return self.read(lambda message: message.get("id") == self.turns)["result"]

    def read(self, wanted: Any) -> Any:
        while not wanted(message := json.loads(self.relayed.line())):
            pass
        return message

    def reply(self, question: Any, option: str) -> None:
        answer = {"outcome": {"outcome": "selected", "optionId": option}}
        self.relayed.write(json.dumps({"jsonrpc": "2.0", "id": question, "result": answer}).encode() + b"\n")

    def works(self) -> None:
        """Have the agent ask, answer, and go on with something else."""
        self.reply(self.ask(), "yes")
        self.end_of_turn()
        self.prompt("work")
        self.look(f"/{SESSION}")
        self.page.get_by_role("button", name="Stop", exact=True).wait_for()

    def look(self, below: str = "") -> None:
        self.page.goto(f"{self.board.pages}/sessions{below}")
        is_live(self.page)


@pytest.fixture(scope="module")
def editor(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    journal = Path(tmp_path_factory.mktemp("asking")) / "journal.db"
    with Relayed("asking.py", journal=journal) as relayed, running_board(str(journal)) as board:
        context = browser.new_context(viewport={"width": 1120, "height": 900})
        board.let_in(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        yield Editor(relayed, board, page)
        context.close()


def test_an_option_is_chosen_in_the_inbox_while_the_editor_asks(editor: Editor, axe: str) -> None:
    page = editor.page
    editor.look()
    editor.ask()
    item = page.locator(f"#o-{SESSION}")
    buttons = item.locator(".answers button")
    expect(buttons).to_have_text([YES, ALWAYS, NO])
    expect(item.locator(".primary")).to_have_text(YES)
    page.evaluate(axe)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = page.evaluate("axe.run('#inbox', { resultTypes: ['violations'] })")["violations"]
        assert [(scheme, each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    photograph(page, "inbox")
    words = item.get_by_role("textbox")
    words.fill("Smaller steps")
    editor.board.write("other", items("pending"), ReviewAsked("main"))
    expect(page.locator("#needs-list > li")).to_have_count(2)
    expect(words).to_be_focused()
    expect(words).to_have_value("Smaller steps")
    buttons.filter(has_text=NO).press("Enter")
    assert editor.end_of_turn()["answer"] == {"outcome": "selected", "optionId": "no"}
    expect(page.locator(".toast")).to_contain_text(f"Queued for the agent: “{NO}”.")
    expect(page.locator(".session-link:focus")).to_have_count(1)
    page.mouse.move(1, 1)
    expect(page.locator("#needs-list > li")).to_have_count(1)
    expect(page.locator(f"details.day #o-{SESSION}")).to_have_attribute("data-status", "idle")


def test_words_and_focus_stay_while_the_plan_changes_and_the_bar_is_in_sight_on_a_phone(editor: Editor) -> None:
    page = editor.page
    page.set_viewport_size({"width": 360, "height": 700})
    editor.ask(PLAN.replace("Mail the owner", "Mail the owner once a day") + "\n".join(f"- [ ] {n}" for n in range(40)))
    editor.look(f"/{SESSION}")
    bar = page.locator(".plan > .answer-form")
    words = bar.get_by_role("textbox")
    approve = bar.locator(".primary")
    expect(approve).to_have_text(re.compile(rf"^{YES}, \d+ lines unseen$"))
    expect(approve).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, 700)")
    expect(approve).to_be_in_viewport(ratio=1)
    expect(bar.locator(".hint")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    photograph(page, "asked-phone")
    words.fill("As you like")
    page.locator("#p0-s1").click()
    page.keyboard.press("v")
    expect(words).to_be_focused()
    page.reload()
    is_live(page)
    expect(words).to_have_value("As you like")
    page.get_by_role("button", name=NO, exact=True).click()
    editor.end_of_turn()
    expect(bar).to_have_count(0)
    page.set_viewport_size({"width": 1120, "height": 900})


def test_words_stay_with_their_author_when_the_question_is_over(editor: Editor) -> None:
    page, number = editor.page, len(load_state(editor.board.journal, SESSION).plans["plan-mode"].remarks)
    question = editor.ask()
    editor.look(f"/{SESSION}")
    page.locator(".answer-form").get_by_role("textbox").fill("Use the old fixture")
    editor.reply(question, "no")
    notice = page.get_by_role("alert").filter(has_text="The question is over. Your words were not sent.")
    expect(notice).to_contain_text("Use the old fixture")
    notice.get_by_role("button", name="Send as a comment").click()
    expect(page.locator(".toast")).to_contain_text("Comment added to the plan.")
    expect(notice).to_have_count(0)
    editor.end_of_turn()
    remarks = load_state(editor.board.journal, SESSION).plans["plan-mode"].remarks
    assert [each.text for each in remarks[number:] if each.text] == ["Use the old fixture"]


def test_a_late_no_of_the_editor_is_decided_on_the_board(editor: Editor) -> None:
    page = editor.page
    question = editor.ask()
    editor.look(f"/{SESSION}")
    page.get_by_role("button", name=YES, exact=True).click()
    assert editor.end_of_turn()["answer"] == {"outcome": "selected", "optionId": "yes"}
    expect(page.locator("#p0-said .delivery").first).to_have_text(re.compile("^(Delivered|Seen) "))
    editor.reply(question, "no")
    notice = page.get_by_role("region", name="A decision is needed")
    expect(notice).to_contain_text(f"answered “{NO}”, too late.")
    photograph(page, "disputed")
    page.get_by_role("button", name="Keep as it is").click()
    expect(notice).to_have_count(0)


def test_words_are_told_now_after_the_person_agreed_to_cancel_the_turn(editor: Editor) -> None:
    page = editor.page
    editor.works()
    page.keyboard.press("C")
    page.keyboard.type("Use tox")
    page.get_by_role("button", name="Comment and tell now").click()
    question = page.get_by_role("dialog", name="Tell it now?")
    question.get_by_role("button", name="Not now").click()
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_have_value("Use tox")
    page.get_by_role("button", name="Comment and tell now").click()
    question.get_by_role("button", name="Cancel its turn and tell it").click()
    assert editor.end_of_turn()["stopReason"] == "cancelled"
    expect(page.locator(".remark").filter(has_text="Use tox").locator(".delivery-seen")).to_be_visible()


def test_a_turn_is_stopped_with_a_key(editor: Editor) -> None:
    page = editor.page
    editor.works()
    page.keyboard.press("S")
    assert editor.end_of_turn()["stopReason"] == "cancelled"
    expect(page.locator(".session-title .state")).to_contain_text("stopped")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text(
        "Tell now: have the agent hear now what people said"
    )
    page.keyboard.press("Escape")
