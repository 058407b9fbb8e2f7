"""Steering over HTTP: what a page sends, what is written, and what is answered if it can't be."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from planwire.web.steer_requests import MOST_CHANGES

from planwire import BlockingPlanSession
from planwire.errors import JournalUnavailable
from planwire.journal import load_state
from planwire.model.events import (
    ACP,
    APPROVED,
    AddStep,
    Comment,
    Event,
    MessageAdded,
    MoveStep,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemoveStep,
    RewordStep,
    SetPriority,
    SetStatus,
    SuggestionWithdrawn,
)
from planwire.model.fold import PlanRecord
from planwire.model.plan import Entry, FilePlan, ItemsPlan, OtherPlan
from planwire.web.guard import LARGEST_BODY
from tests.web.board import TOKEN, Running, items, markdown, running_board
from tests.web.test_hostile_content import PAYLOADS, Seen, check

TICK = {"do": "status", "step": "s1", "status": "completed"}


class Here:
    """A session of its own on a board that all tests share."""

    def __init__(self, board: Running, session: str) -> None:
        self.board = board
        self.session = session
        self.address = f"/sessions/{session}"
        self.journal = board.journal

    def write(self, *events: Event, by: str = "agent") -> int:
        return self.board.write(self.session, *events, by=by)

    def post(self, what: str, plan: str = "main", **body: Any) -> httpx.Response:
        address = f"{self.address}/plans/{plan}/{what}"
        return self.board.client.post(address, json=body, headers={"Origin": self.board.base})

    def send(self, what: str, content: Any, kind: str = "application/json") -> httpx.Response:
        headers = {"Origin": self.board.base, "Content-Type": kind}
        return self.board.client.post(f"{self.address}/plans/main/{what}", content=content, headers=headers)

    def page(self, below: str = "") -> str:
        return self.board.page(self.address + below)

    def record(self, plan_id: str = "main") -> PlanRecord:
        return load_state(self.journal, self.session).plans[plan_id]

    def contents(self) -> list[str]:
        return [step.content for step in self.record().state.steps]

    def events(self) -> list[Recorded]:
        return list(self.journal.read(self.session))


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    with running_board() as running:
        yield running


@pytest.fixture
def here(shared: Running) -> Here:
    return Here(shared, f"session-{len(list(shared.journal.sessions()))}")


def test_every_change_of_a_plan_is_made_and_says_which_revision_it_made(here: Here) -> None:
    here.write(items("pending", "pending", "pending", via="tools"))
    revision = 1
    for change, made in (
        (TICK, SetStatus("s1", "completed")),
        ({"do": "reword", "step": "s2", "content": "Other words"}, RewordStep("s2", "Other words")),
        ({"do": "add", "content": "New", "after": "s1"}, AddStep("New", "s1")),
        ({"do": "move", "step": "s3", "after": ""}, MoveStep("s3", "")),
        ({"do": "priority", "step": "s2", "priority": "high"}, SetPriority("s2", "high")),
        ({"do": "remove", "step": "s1"}, RemoveStep("s1")),
    ):
        answer = here.post("changes", revision=revision, changes=[change])
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"revision": revision + 1, "from": revision, "wished": False}
        revision += 1
        last = here.events()[-1]
        assert (last.by, last.event) == ("user", PlanChanged("main", None, (made,)))
    assert here.contents() == ["step 3", "New", "Other words"]


def test_a_change_of_an_agents_own_plan_is_a_suggestion_and_the_plan_stays_the_agents(here: Here) -> None:
    here.write(items("pending", "pending"))
    answer = here.post("changes", revision=1, changes=[TICK], note="it was done before")
    assert answer.json() == {"revision": 2, "from": 1, "wished": True}
    assert [step.status for step in here.record().state.steps] == ["pending", "pending"]
    assert [suggestion.note for suggestion in here.record().suggestions] == ["it was done before"]


def test_the_tasks_of_a_text_are_changed_in_the_text(here: Here) -> None:
    here.write(markdown("# Title\n\nWords.\n\n- [ ] one\n  - [ ] in one\n- [ ] two\n"))
    changes = [
        {"do": "status", "step": "s2", "status": "in_progress"},
        {"do": "add", "content": "three"},
        {"do": "move", "step": "s3", "after": ""},
    ]
    assert here.post("changes", "text", revision=1, changes=changes).status_code == 200
    text = "# Title\n\nWords.\n\n- [ ] two\n- [ ] one\n  - [~] in one\n- [ ] three\n"
    assert here.board.get(f"{here.address}/plans/text.md").text == text


def test_a_review_has_a_verdict_comments_and_the_steps_to_run(here: Here) -> None:
    here.write(items("pending", "pending"))
    comments = [{"text": "Go on."}, {"text": "Careful.", "step": "s2"}]
    answer = here.post("reviews", revision=1, verdict="approved", comments=comments, selected=["s1", "s2"])
    assert answer.json() == {"revision": 1, "from": 1, "wished": False}
    said = PlanReviewed("main", 1, APPROVED, (Comment("Go on."), Comment("Careful.", "s2")), ("s1", "s2"))
    assert here.events()[-1].event == said


@pytest.mark.parametrize("plan_id", [None, "a/b?c#d.json", "plän", "~~"])
def test_plans_of_any_name_are_steered_at_the_address_that_their_page_says(here: Here, plan_id: str | None) -> None:
    here.write(items("pending", plan_id=plan_id, via="tools"))
    [address] = [row["data-steer"] for _, row in Seen(here.page()).tags if "data-steer" in row]
    assert address is not None
    answer = here.post("changes", address.rpartition("/")[2], revision=1, changes=[TICK])
    assert answer.status_code == 200
    assert load_state(here.journal, here.session).plans[plan_id].state.progress.done == 1


def test_a_suggestion_is_taken_back(here: Here) -> None:
    here.write(items("pending"))
    here.post("changes", revision=1, changes=[TICK])
    answer = here.post("withdrawals", wish=2)
    assert answer.json() == {"revision": 3, "from": 2, "wished": False}
    assert here.events()[-1].event == SuggestionWithdrawn("main", 2)
    assert here.record().suggestions == ()


# ------------------------------------------------------------------ the plan moved on


def test_what_was_meant_for_an_earlier_revision_is_refused_with_the_difference(here: Here) -> None:
    here.write(items("pending", "pending", "pending"))
    here.write(items("completed", "in_progress"))
    bodies: dict[str, dict[str, Any]] = {"changes": {"changes": [TICK]}, "reviews": {"verdict": "approved"}}
    for what, body in bodies.items():
        answer = here.post(what, revision=1, **body)
        assert answer.status_code == 409
        value = answer.json()
        assert (value["error"], value["seen"], value["revision"]) == ("moved_on", 1, 2)
        assert "revision 2" in value["message"]
        assert [word["kind"] for word in value["moments"][0]["words"]] == ["completed", "in_progress", "removed"]
        seen = check(value["html"])
        assert "step 3" in seen.words
        assert [row["data-pair"] for tag, row in seen.tags if tag == "tr" and "data-pair" in row] == [
            "changed",
            "changed",
            "removed",
        ]
    assert len(here.events()) == 2


def test_it_is_said_which_of_the_steps_that_were_meant_are_gone(here: Here) -> None:
    here.write(items("pending", "pending", "pending"))
    here.write(items("pending"))
    moved = [{"do": "move", "step": "s1", "after": "s3"}, {"do": "reword", "step": "s2", "content": "x"}]
    assert here.post("changes", revision=1, changes=moved).json()["missing"] == ["s2", "s3"]
    comments = [{"text": "a"}, {"text": "b", "step": "s2"}]
    answer = here.post("reviews", revision=1, verdict="approved", comments=comments, selected=["s1", "s3"])
    assert answer.json()["missing"] == ["s2", "s3"]


def test_another_persons_suggestion_is_a_difference_too(here: Here) -> None:
    here.write(items("pending", "pending"))
    here.write(PlanChanged("main", None, (AddStep("Write tests"),)), by="ana")
    answer = here.post("changes", revision=1, changes=[TICK])
    assert answer.status_code == 409
    assert "add Write tests" in answer.json()["html"]
    assert "Nothing changed" not in answer.json()["html"]


def test_what_nobody_can_see_is_no_reason_to_ask_again(here: Here) -> None:
    """An agent sends the same list again: the revision is another one, and the page looks the same."""
    here.write(items("pending", "pending"))
    here.write(PlanReviewed("main", 1, "commented", (Comment("hm"),)), by="ana")
    here.write(items("pending", "pending"))
    here.write(MessageAdded({"role": "user", "content": "hello"}))
    answer = here.post("changes", revision=1, changes=[TICK])
    assert answer.json() == {"revision": 5, "from": 3, "wished": True}
    here.write(items("pending", "pending"))
    assert here.post("reviews", revision=5, verdict="approved").status_code == 200
    assert here.record().reviews[-1].revision == 6


def test_a_revision_that_never_was_is_refused(here: Here) -> None:
    here.write(items("pending"))
    here.write(items("pending"))
    for revision in (0, 3, 2**50):
        answer = here.post("changes", revision=revision, changes=[TICK])
        assert answer.status_code == 409
    assert len(here.events()) == 2


def test_of_many_who_change_the_same_revision_one_does_and_the_others_are_asked_again(here: Here) -> None:
    here.write(items(*["pending"] * 8, via="tools"))
    start = threading.Barrier(8)

    def change(number: int) -> int:
        start.wait(10)
        changes = [{"do": "status", "step": f"s{number}", "status": "completed"}]
        return here.post("changes", revision=1, changes=changes).status_code

    with ThreadPoolExecutor(8) as people:
        answers = sorted(people.map(change, range(1, 9)))
    assert answers == [200] + [409] * 7
    assert len(here.events()) == 2


def test_a_revision_that_is_answered_is_the_persons_own_and_not_that_of_who_came_after(here: Here) -> None:
    here.write(items("pending", "pending"))
    agent = threading.Thread(target=lambda: [here.write(items("pending", "completed")) for _ in range(12)])
    agent.start()
    for number in range(8):
        revision = here.board.json(f"{here.address}/plans/main.json")["revision"]
        answer = here.post("changes", revision=revision, changes=[TICK], note=f"word {number}")
        if answer.status_code == 200:
            made = answer.json()["revision"]
            [own] = here.journal.read(here.session, made - 1, made)
            assert own.by == "user"
    agent.join()


# ------------------------------------------------------------------ the same once more, because the answer was lost


def test_a_change_that_is_sent_twice_is_made_once(here: Here) -> None:
    here.write(items("pending", via="tools"))
    body: dict[str, Any] = {"revision": 1, "changes": [{"do": "add", "content": "New"}]}
    assert here.post("changes", **body).status_code == 200
    again = here.post("changes", **body)
    assert again.status_code == 409
    assert "New" in again.json()["html"]
    assert here.contents() == ["step 1", "New"]


@pytest.mark.parametrize(
    "body",
    [
        {"verdict": "approved"},
        {"verdict": "changes_requested", "comments": [{"text": "smaller"}]},
        {"verdict": "commented", "comments": [{"text": "hm", "step": "s1"}]},
        {"verdict": "approved", "selected": ["s2", "s1"]},
    ],
)
def test_a_review_that_is_sent_twice_is_written_once(here: Here, body: dict[str, Any]) -> None:
    here.write(items("pending", "pending"))
    assert here.post("reviews", revision=1, **body).json() == {"revision": 1, "from": 1, "wished": False}
    here.write(PlanReviewed("main", 1, "commented", (Comment("something else"),)), by="ana")
    again = here.post("reviews", revision=1, **body)
    assert again.json() == {"revision": 1, "from": 1, "wished": False, "already": True}
    assert len(here.events()) == 3


def test_who_changes_their_mind_twice_is_heard_twice(here: Here) -> None:
    here.write(items("pending"))
    for verdict in ("approved", "changes_requested", "approved"):
        assert "already" not in here.post("reviews", revision=1, verdict=verdict).json()
    here.write(items("completed"))
    assert "already" not in here.post("reviews", revision=5, verdict="approved").json()


def test_a_suggestion_that_is_taken_back_twice_is_taken_back_once(here: Here) -> None:
    here.write(items("pending"))
    here.post("changes", revision=1, changes=[TICK])
    here.post("withdrawals", wish=2)
    assert here.post("withdrawals", wish=2).json()["already"] is True
    assert len(here.events()) == 3
    for number in (0, 1, 3, 99):
        answer = here.post("withdrawals", wish=number)
        assert answer.status_code == 422
        assert f"event {number}" in answer.json()["error"]


@pytest.mark.parametrize("via", ["tools", ACP])
def test_a_change_of_what_is_already_so_makes_no_revision(here: Here, via: str) -> None:
    here.write(items("in_progress", via=via))
    started = {"do": "status", "step": "s1", "status": "in_progress"}
    for _ in range(3):
        answer = here.post("changes", revision=1, changes=[started])
        assert (answer.status_code, answer.json()) == (
            200,
            {"revision": 1, "from": 1, "wished": False, "unchanged": True},
        )
    assert len(here.events()) == 1


def test_a_suggestion_that_is_open_is_not_written_again(here: Here) -> None:
    here.write(items("pending"))
    here.post("changes", revision=1, changes=[TICK])
    assert here.post("changes", revision=2, changes=[TICK]).json()["unchanged"] is True
    assert here.post("changes", revision=2, changes=[TICK], note="really").json() == {
        "revision": 3,
        "from": 2,
        "wished": True,
    }


# ------------------------------------------------------------------ what can't be done


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"do": "status", "step": "s9", "status": "completed"}, "no step 's9'"),
        ({"do": "reword", "step": "s1", "content": "  "}, "give it a text"),
        ({"do": "add", "content": ""}, "give it a text"),
        ({"do": "add", "content": "x", "after": "s9"}, "no step 's9'"),
    ],
)
def test_what_the_plan_can_not_do_is_said_in_a_sentence(here: Here, change: dict[str, str], words: str) -> None:
    here.write(items("pending", via="tools"))
    answer = here.post("changes", revision=1, changes=[TICK, change])
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert len(here.events()) == 1  # nor was the change before it made


def test_a_plan_in_a_file_and_plans_of_other_kinds_are_reviewed_but_not_changed(here: Here, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("- [ ] one\n")
    here.board.open(here.session, cwd=str(tmp_path))
    here.write(PlanSet(FilePlan("file", (tmp_path / "plan.md").as_uri())), PlanSet(OtherPlan("odd", "x", {})))
    for name, revision in (("file", 2), ("odd", 3)):
        answer = here.post("changes", name, revision=revision, changes=[TICK])
        assert answer.status_code == 422
        assert "no steps that can be changed" in answer.json()["error"]
        comments = [{"text": "Looks right."}]
        assert here.post("reviews", name, revision=revision, verdict="approved", comments=comments).is_success
    page = here.page("")
    assert "data-edit" not in page
    assert page.count("data-steer=") == 2


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"", "Input data was truncated"),
        (b"[]", "Expected `object`"),
        (b"{", "truncated"),
        (b'{"changes": []}', "missing required field `revision`"),
        (b'{"revision": "1"}', "`$.revision`"),
        (b'{"revision": -1}', "`$.revision`"),
        (b'{"revision": 1, "changes": [{"do": "explode", "step": "s1"}]}', "`$.changes[0].do`"),
        (b'{"revision": 1, "changes": [{"do": "status", "step": "s1"}]}', "`$.changes[0]`"),
        (b'{"revision": 1, "changes": [{"do": "add", "content": "x", "befor": "s1"}]}', "`befor` - at `$.changes[0]`"),
        (b'{"revision": 1, "verdict": "approved"}', "unknown field `verdict`"),
        (b'{"revision": 1, "note": 3}', "`$.note`"),
        (b'{"revision": 1, "note": "\xff"}', "can't be understood"),
        (b'{"revision": 1, "note": "\\ud800"}', "can't be understood"),
        (b"[" * 50_000, "can't be understood"),
    ],
)
def test_what_can_not_be_understood_is_refused_with_the_place_that_is_wrong(
    here: Here, body: bytes, where: str
) -> None:
    here.write(items("pending"))
    answer = here.send("changes", body)
    assert answer.status_code == 400
    assert where in answer.json()["error"]
    assert len(here.events()) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"verdict": "maybe"},
        {"verdict": "dismissed"},
        {"verdict": "approved", "comments": [{"text": "x", "stepp": "s1"}]},
        {"verdict": "approved", "comments": [{}]},
        {"verdict": "approved", "selected": "s1"},
        {"verdict": "approved", "answer": "yes"},
    ],
)
def test_a_review_that_can_not_be_understood_is_refused(here: Here, body: dict[str, Any]) -> None:
    here.write(items("pending"))
    assert here.post("reviews", revision=1, **body).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        {"verdict": "commented"},
        {"verdict": "commented", "comments": [{"text": " "}]},
        {"verdict": "approved", "selected": []},
        {"verdict": "approved", "selected": ["s9"]},
        {"verdict": "approved", "comments": [{"text": "x", "step": "s9"}]},
    ],
)
def test_a_review_that_says_nothing_or_names_no_step_of_the_plan_is_refused(here: Here, body: dict[str, Any]) -> None:
    here.write(items("pending"))
    assert here.post("reviews", revision=1, **body).status_code == 422


@pytest.mark.parametrize("what", ["changes", "reviews", "withdrawals"])
def test_what_is_not_there_can_not_be_steered(here: Here, what: str) -> None:
    here.write(items("pending"), PlanRemoved("main"))
    bodies: dict[str, dict[str, Any]] = {
        "changes": {"revision": 2, "changes": [TICK]},
        "reviews": {"revision": 2, "verdict": "approved"},
        "withdrawals": {"wish": 1},
    }
    for place, plan in ((here, "main"), (here, "none"), (here, "~%21"), (Here(here.board, "nobody"), "main")):
        answer = place.post(what, plan, **bodies[what])
        assert answer.status_code == 404
        assert answer.json()["error"]
    assert "data-steer" not in here.page("/plans/main")


def test_only_so_much_is_taken_at_once(here: Here) -> None:
    here.write(items("pending"))
    assert here.post("changes", revision=1, changes=[TICK] * (MOST_CHANGES + 1)).status_code == 400
    assert here.post("changes", revision=1, note="x" * LARGEST_BODY).status_code == 413

    def endless() -> Any:
        yield b'{"revision": 1, "note": "'
        for _ in range(LARGEST_BODY // 1_000 + 10):
            yield b"x" * 1_000

    with suppress(httpx.HTTPError):  # the board hung up, which is as good
        assert here.send("changes", endless()).status_code == 413
    assert len(here.events()) == 1


@pytest.mark.parametrize("what", ["changes", "reviews", "withdrawals"])
def test_other_sites_and_strangers_can_not_steer(here: Here, what: str) -> None:
    here.write(items("pending"))
    base = here.board.base
    address = f"{base}{here.address}/plans/main/{what}"
    body = {"revision": 1, "changes": [TICK], "verdict": "approved"}
    known = {"Authorization": f"Bearer {TOKEN}"}
    own = {**known, "Origin": base}
    with httpx.Client() as stranger:
        for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}):
            assert stranger.post(address, json=body, headers={**known, **headers}).status_code == 403
        assert stranger.post(address, json=body, headers={**own, "Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert stranger.post(address, json=body, headers={"Origin": base}).status_code == 401
        assert stranger.post(address, data={"revision": "1"}, headers=own).status_code == 415
        plain = {**own, "Content-Type": "text/plain"}
        assert stranger.post(address, content=b'{"revision": 1}', headers=plain).status_code == 415
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            assert stranger.request(method, address, headers=own).status_code == 405


def test_a_journal_that_can_not_be_written_is_said_so_as_json(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write(items("pending"))

    def full(*_values: Any, **_options: Any) -> Any:
        raise JournalUnavailable("the disk is full")

    monkeypatch.setattr(here.journal, "append", full)
    answer = here.post("changes", revision=1, changes=[TICK])
    assert answer.status_code == 503
    assert answer.json() == {"error": "the disk is full"}


# ------------------------------------------------------------------ what pages show


def test_pages_of_the_past_and_dismissed_plans_offer_nothing_to_do(here: Here) -> None:
    here.write(items("pending"))
    here.post("changes", revision=1, changes=[{"do": "add", "content": "Wished"}])
    for page in (here.page("/history"), here.page("/compare"), here.board.page("/sessions")):
        assert "data-steer" not in page
        assert "data-withdraw" not in page
        assert "data-revision" not in page
    assert "Wished" in here.page("/history")


@pytest.mark.parametrize("text", [False, True])
def test_suggestions_and_remarks_stand_over_the_steps_and_never_in_them(here: Here, text: bool) -> None:
    plan = markdown("- [ ] step 1\n- [ ] step 2\n- [ ] step 3\n", "main") if text else items(*["pending"] * 3)
    here.write(PlanSet(plan.plan, via=ACP))
    revision = 1
    for change in (
        {"do": "reword", "step": "s1", "content": "Other words"},
        {"do": "remove", "step": "s2"},
        {"do": "status", "step": "s3", "status": "completed"},
        {"do": "add", "content": "Behind one", "after": "s1"},
        {"do": "add", "content": "First of all", "after": ""},
        {"do": "add", "content": "At the end"},
    ):
        revision = here.post("changes", revision=revision, changes=[change]).json()["revision"]
    comment = {"text": "Which one?", "step": "s2"}
    here.post("reviews", revision=revision, verdict="commented", comments=[comment])
    seen = check(here.page(""))
    rows = [row for tag, row in seen.tags if tag == "li" and ("data-step" in row or "ghost" in str(row.get("class")))]
    assert [row["id"] for row in rows] == ["p0-w6-0", "p0-s1", "p0-w5-0", "p0-s2", "p0-s3", "p0-w7-0"]
    assert [("wants-reword" in str(row["class"]), "wants-remove" in str(row["class"])) for row in rows][1:4:2] == [
        (True, False),
        (False, True),
    ]
    assert "Which one?" in seen.words
    assert "suggested by user: remove" in seen.words
    for words in ("Behind one", "First of all", "At the end"):
        assert words in seen.words
    assert [value for tag, row in seen.tags if (value := row.get("data-withdraw"))].count("2") == 2
    assert here.board.get(f"{here.address}/plans/main.md").text.count("Other words") == 0
    here.write(PlanSet(plan.plan, via=ACP))
    assert "Behind one" in here.page("")


def test_a_suggested_step_at_the_end_of_a_text_stands_behind_the_last_of_its_steps(here: Here) -> None:
    here.write(PlanSet(markdown("- Phase 1\n  - [ ] a\n- Phase 2\n  - [ ] b\n", "main").plan, via=ACP))
    here.post("changes", revision=1, changes=[{"do": "add", "content": "At the end"}])
    rows = [row["id"] for tag, row in check(here.page("")).tags if tag == "li" and "id" in row]
    assert rows == ["p0-s1", "p0-s2", "p0-w2-0"]


def test_a_suggestion_that_came_true_is_gone_from_the_page(here: Here) -> None:
    here.write(items("pending", "pending"))
    here.post("changes", revision=1, changes=[TICK])
    assert "suggestion-status" in here.page("")
    here.write(items("completed", "pending"))
    assert "wish-" not in here.page("")


def test_a_page_says_which_steps_are_to_be_run_and_whether_the_plan_changed_since(here: Here) -> None:
    here.write(items("pending", "pending"))
    here.post("reviews", revision=1, verdict="approved", selected=["s2"], comments=[{"text": "Only this."}])
    page = here.page("")
    assert "approved (revision 1) · to run: step 2 · Only this." in page
    assert "plan changed since" not in page
    here.write(items("completed", "pending"))
    assert "plan changed since" in here.page("")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_words_of_people_are_words_on_every_page_and_in_every_answer(here: Here, payload: str) -> None:
    text = f"x {payload.replace(chr(0), '')}"
    here.write(items("pending", "pending"), PlanSet(markdown("- [ ] one\n- [ ] two\n").plan, via=ACP))
    for plan, first in (("main", 1), ("text", 2)):
        suggestions = [{"do": "add", "content": text, "after": "s1"}, {"do": "reword", "step": "s2", "content": text}]
        answer = here.post("changes", plan, revision=first, changes=suggestions, note=text)
        assert answer.status_code == 200, answer.text
        revision = answer.json()["revision"]
        comments = [{"text": text, "step": "s1"}, {"text": text}]
        assert here.post("reviews", plan, revision=revision, verdict="commented", comments=comments).is_success
    for page in ("", "/plans/main", "/history", "/compare?from=1&to=6"):
        check(here.page(page))
    moved = here.post("changes", revision=1, changes=[TICK])
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
    """Pages with thousands of rows are sent to a thousand watchers."""
    here.write(items(*["pending"] * 50))
    page = here.page("")
    row = page.partition('<li id="p0-s7"')[2].partition("</li>")[0]
    assert len(row) < 170, row


def test_what_a_person_did_reaches_an_agent_that_works_with_planwires_tools(here: Here) -> None:
    agent = BlockingPlanSession(here.journal, here.session)
    agent.call("set_plan", {"entries": ["Read the config", "Write the parser"]})
    agent.pending()
    revision = here.record().revision
    here.post("reviews", revision=revision, verdict="approved", selected=["s2"], comments=[{"text": "in C"}])
    [told] = [message["content"] for message in agent.pending()]
    assert "s2 Write the parser" in told
    assert "in C" in told


def test_a_plan_of_the_agents_in_place_of_another_keeps_the_suggestions_that_it_does_not_contain(
    here: Here,
) -> None:
    here.write(items("pending", "pending"))
    first = here.post("changes", revision=1, changes=[TICK]).json()["revision"]
    here.post("changes", revision=first, changes=[{"do": "add", "content": "New"}])
    entries = (Entry("step 1", "medium", "completed"), Entry("step 2", "medium", "pending"))
    here.write(PlanSet(ItemsPlan("main", entries), via=ACP))
    assert [suggestion.changes for suggestion in here.record().suggestions] == [(AddStep("New"),)]
