"""Requests to steer that can't be done, invalid request, or come from someone who may not."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from planwire.errors import JournalUnavailable
from planwire.model.events import COMMENT, PlanRemoved, PlanSet, Remarked
from planwire.model.plan import FilePlan, OtherPlan
from planwire.session.named_folders import note_folders
from planwire.steering.wanted import MOST_CHANGES
from planwire.web.guard import LARGEST_BODY
from tests.web.board import TOKEN, items, running_board
from tests.web.steering import TICK, Here


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("tick", {"target": "s9"}, "no step 's9'"),
        ("tick", {}, "needs 'target'"),
        ("reword", {"target": "s1", "text": "  "}, "The step is empty"),
        ("add", {"text": ""}, "The step is empty"),
        ("add", {"text": "x", "after": "s9"}, "no step 's9'"),
        ("add", {"text": "x", "verdict": "approved"}, "doesn't take 'verdict'"),
        ("set_status", {"target": "s1", "status": "odd"}, "There is no status 'odd'"),
        ("explode", {}, "there is no act 'explode'"),
        ("review", {"verdict": "maybe"}, "There is no verdict 'maybe'"),
        ("review", {"verdict": "dismissed"}, "There is no verdict 'dismissed'"),
        ("review", {"verdict": "commented"}, "The comment is empty"),
        ("review", {"verdict": "commented", "comments": [{"text": " "}]}, "The comment is empty"),
        ("comment", {"target": "s9", "text": "x"}, "no step 's9'"),
        ("select", {"steps": []}, "No step is selected"),
        ("select", {"steps": ["s9"]}, "no step 's9'"),
        ("suggest", {"plan_text": "nonsense"}, "line 1"),
    ],
)
def test_what_the_plan_can_not_do_is_said_in_a_sentence(
    here: Here, name: str, body: dict[str, Any], words: str
) -> None:
    here.write(items("pending", via="tools"))
    answer = here.act(name, seen=1, **body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert len(here.events()) == 1


def test_of_several_changes_all_are_made_or_none(here: Here) -> None:
    here.write(items("pending", via="tools"))
    changes = [{"do": "status", "step": "s1", "status": "completed"}, {"do": "remove", "step": "s9"}]
    assert here.act("suggest", seen=1, changes=changes).status_code == 422
    assert len(here.events()) == 1


def test_a_plan_in_a_file_and_plans_of_other_kinds_are_reviewed_but_not_changed(here: Here, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("- [ ] one\n")
    here.board.open(here.session, cwd=str(tmp_path))
    note_folders(tmp_path)
    here.write(PlanSet(FilePlan("file", (tmp_path / "plan.md").as_uri())), PlanSet(OtherPlan("odd", "x", {})))
    for name, words in (("file", "change it in an editor"), ("odd", "no steps to change")):
        answer = here.act("tick", name, target="s1")
        assert answer.status_code == 422
        assert words in answer.json()["error"]
        assert here.act("review", name, verdict="approved", text="Looks right.").is_success
        assert here.board.get(f"{here.address}/plans/{name}/text").status_code == 404
    page = here.page("")
    assert "data-edit" not in page
    assert page.count("data-steer=") == 2


def test_a_comment_on_a_step_of_a_plan_file_is_about_the_step(here: Here, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("- [ ] one\n")
    here.board.open(here.session, cwd=str(tmp_path))
    note_folders(tmp_path)
    here.write(PlanSet(FilePlan("file", (tmp_path / "plan.md").as_uri())))
    assert here.act("comment", "file", target="s1", text="Why?", seen=3).status_code == 200
    assert here.events()[-1].event == Remarked("file", COMMENT, "Why?", 3, "s1", id="r1", about={"s1": "one"})


def test_the_steps_of_a_plan_file_are_chosen_on_a_page_from_before_anybody_recorded_them(
    here: Here, tmp_path: Path
) -> None:
    (tmp_path / "plan.md").write_text("- [ ] one\n")
    here.board.open(here.session, cwd=str(tmp_path))
    note_folders(tmp_path)
    here.write(PlanSet(FilePlan("file", (tmp_path / "plan.md").as_uri())))
    assert re.search(r'data-revision="\d" data-acts="[^"]*\bselect\b', here.page())
    assert here.act("select", "file", steps=["s1"], seen=2).status_code == 200
    said = here.events()[-1].event
    assert isinstance(said, Remarked)
    assert (said.steps, said.about) == (("s1",), {"s1": "one"})


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"", "Input data was truncated"),
        (b"[]", "Expected `object`"),
        (b"{", "truncated"),
        (b'{"target": "s1"}', "missing required field `act`"),
        (b'{"act": "tick", "seen": "1"}', "`$.seen`"),
        (b'{"act": "tick", "seen": -1}', "`$.seen`"),
        (b'{"act": "tick", "revision": 1}', "unknown field `revision`"),
        (b'{"act": "move", "by": 0.5}', "`$.by`"),
        (b'{"act": "select", "steps": "s1"}', "`$.steps`"),
        (b'{"act": "suggest", "changes": [{"do": "explode", "step": "s1"}]}', "`$.changes[0].do`"),
        (b'{"act": "suggest", "changes": [{"do": "status", "step": "s1"}]}', "`$.changes[0]`"),
        (
            b'{"act": "suggest", "changes": [{"do": "add", "content": "x", "befor": "s1"}]}',
            "`befor` - at `$.changes[0]`",
        ),
        (b'{"act": "review", "verdict": "approved", "comments": [{"text": "x", "stepp": "s1"}]}', "`stepp` - at"),
        (b'{"act": "review", "verdict": "approved", "comments": [{}]}', "`$.comments[0]`"),
        (b'{"act": "comment", "text": 3}', "`$.text`"),
        (b'{"act": "comment", "text": "\xff"}', "invalid request"),
        (b'{"act": "comment", "text": "\\ud800"}', "invalid request"),
        (b"[" * 50_000, "invalid request"),
    ],
)
def test_what_can_not_be_understood_is_refused_with_the_place_that_is_wrong(
    here: Here, body: bytes, where: str
) -> None:
    here.write(items("pending"))
    answer = here.send(body)
    assert answer.status_code == 400
    assert where in answer.json()["error"]
    assert len(here.events()) == 1


def test_what_is_not_there_can_not_be_steered(here: Here) -> None:
    here.write(items("pending"), PlanRemoved("main"))
    for place, plan in ((here, "main"), (here, "none"), (here, "~%21"), (Here(here.board, "nobody"), "main")):
        answer = place.act("tick", plan, target="s1", seen=2)
        assert answer.status_code == 404
        assert answer.json()["error"]
        assert place.board.get(f"{place.address}/plans/{plan}/text").status_code == 404
    assert "data-steer" not in here.page("/plans/main")


@pytest.mark.parametrize("old", ["changes", "reviews", "withdrawals"])
def test_there_is_one_way_to_write(here: Here, old: str) -> None:
    here.write(items("pending"))
    headers = {"Origin": here.board.base}
    address = f"{here.address}/plans/main/{old}"
    assert here.board.client.post(address, json=TICK, headers=headers).status_code == 404


def test_only_so_much_is_taken_at_once(here: Here) -> None:
    here.write(items("pending"))
    change = {"do": "status", "step": "s1", "status": "completed"}
    assert here.act("suggest", seen=1, changes=[change] * (MOST_CHANGES + 1)).status_code == 400
    assert here.act("comment", seen=1, text="x" * LARGEST_BODY).status_code == 413

    def endless() -> Any:
        yield b'{"act": "comment", "text": "'
        for _ in range(LARGEST_BODY // 1_000 + 10):
            yield b"x" * 1_000

    with suppress(httpx.HTTPError):  # the board hung up, which is as good
        assert here.send(endless()).status_code == 413
    assert len(here.events()) == 1


def test_what_is_long_but_not_too_long_is_answered_in_words(here: Here) -> None:
    here.write(items("pending"))
    for size in (300_000, LARGEST_BODY - 1_000):
        answer = here.act("comment", seen=1, text="x" * size)
        assert answer.status_code == 422
        assert "at most 4,096 fit into one remark" in answer.json()["error"]


def test_other_sites_and_strangers_can_not_steer(here: Here) -> None:
    here.write(items("pending"))
    base = here.board.base
    address = f"{base}{here.address}/plans/main/acts"
    known = {"Authorization": f"Bearer {TOKEN}"}
    own = {**known, "Origin": base}
    with httpx.Client() as stranger:
        for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}):
            assert stranger.post(address, json=TICK, headers={**known, **headers}).status_code == 403
        assert stranger.post(address, json=TICK, headers={**own, "Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert stranger.post(address, json=TICK, headers={"Origin": base}).status_code == 401
        assert stranger.post(address, data={"act": "tick"}, headers=own).status_code == 415
        plain = {**own, "Content-Type": "text/plain"}
        assert stranger.post(address, content=b'{"act": "tick"}', headers=plain).status_code == 415
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            assert stranger.request(method, address, headers=own).status_code == 405
    assert len(here.events()) == 1


def test_a_journal_that_can_not_be_written_is_said_so_as_json(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write(items("pending"))

    def full(*_values: Any, **_options: Any) -> Any:
        raise JournalUnavailable("the disk is full")

    monkeypatch.setattr(here.journal, "append", full)
    for key in (None, "k4"):
        answer = here.act("tick", target="s1", seen=1, key=key)
        assert answer.status_code == 503
        assert answer.json() == {"error": "the disk is full"}


def test_a_board_without_an_author_only_shows_and_one_with_a_name_records_it() -> None:
    for by, status in ((None, 403), ("bot", 200)):
        with running_board(by=by) as board:
            here = Here(board, "s1")
            seq = here.write(items("pending"))
            answer = here.act("tick", target="s1")
            assert answer.status_code == status
            assert by or answer.json()["error"].startswith("An agent started this board, so it only shows.")
            assert [each.by for each in here.events()[seq:]] == ([by] if by else [])
            assert "step 1" in here.page()
            assert ("data-only-shows" in here.page()) == (by is None)
