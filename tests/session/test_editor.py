"""Plans in the person's own editor."""

from pathlib import Path

import pytest

from planwire.errors import InputError, Refused
from planwire.journal import Journal, Stamped
from planwire.model.events import PlanChanged, PlanSet
from planwire.model.step_changes import RewordStep, SetStatus
from planwire.session.editor import edited_text, editor_command, text_after_conflict, text_to_edit
from planwire.session.moved_on import MovedOn
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests import deciding
from tests.journals import items


def test_the_editor_is_the_given_one_or_the_persons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    assert editor_command() == ["vi"]
    monkeypatch.setenv("EDITOR", "nano -w")
    assert editor_command() == ["nano", "-w"]
    monkeypatch.setenv("VISUAL", " code --wait ")
    assert editor_command() == ["code", "--wait"]
    assert editor_command("emacs") == ["emacs"]
    with pytest.raises(InputError, match="No closing quotation"):
        editor_command("vim '")


def test_a_text_comes_back_as_it_was_left_without_the_comments(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\ncp "$1" {seen}\nsed -i \'s/read/write/\' "$1"\n')
    script.chmod(0o755)
    assert edited_text("[ ] read {s1}\n", [str(script)], "line 1: what is that?") == "[ ] write {s1}\n"
    assert seen.read_text().startswith("# line 1: what is that?\n# One step per line")
    for editor, problem in (("false", "ended with 1"), ("no-such-editor", "could not be started")):
        with pytest.raises((InputError, Refused), match=problem):
            edited_text("", [editor])


def test_after_a_conflict_the_text_is_the_plan_as_it_is_now_and_no_typed_line_is_lost(journal: Journal) -> None:
    deciding.write(journal, "s", Stamped(0, "agent", PlanSet(items("main", "pending", "pending"))))
    with_plan = steer(journal, "s", "main", Wanted("comment", text="hello")).state
    text = text_to_edit(with_plan.plans["main"])
    assert text == "[ ] Read the code {s1}\n[ ] Write a test {s2}\n"
    changed = PlanChanged("main", None, (RewordStep("s1", "Read all of it"), SetStatus("s2", "pending")))
    deciding.write(journal, "s", Stamped(0, "agent", changed))
    written = "[ ] Read some of it {s1}\n[x] Write a test {s2}\n[ ] Ship it\n"
    with pytest.raises(MovedOn) as moved:
        steer(journal, "s", "main", Wanted("suggest", seen=1, plan_text=written))
    assert text_after_conflict(moved.value, written) == (
        "[ ] Read all of it {s1}\n[x] Write a test {s2}\n[ ] Ship it\n# You wrote:\n# [ ] Read some of it {s1}\n"
    )


def test_after_a_conflict_with_an_emptied_plan_the_typed_lines_are_kept(journal: Journal) -> None:
    deciding.write(journal, "s", Stamped(0, "agent", PlanSet(items("main", "pending"))))
    deciding.write(journal, "s", Stamped(0, "agent", PlanSet(items("main"))))
    written = "[x] Read the code {s1}\n"
    with pytest.raises(MovedOn) as moved:
        steer(journal, "s", "main", Wanted("suggest", seen=1, plan_text=written))
    assert text_after_conflict(moved.value, written) == "# You wrote:\n# [x] Read the code {s1}\n"
