"""The pager: on a terminal, and nowhere else."""

import sys
from pathlib import Path

import pytest

from planwire.cli import main
from tests.journals import filled_journal
from tests.terminal.test_views import running


@pytest.fixture
def pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A journal of this folder, and a pager that says what it is given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(filled_journal(tmp_path / "journal.db", str(tmp_path))))
    program = tmp_path / "pager.py"
    program.write_text("import sys\nprint('PAGED', len(sys.stdin.read().splitlines()), 'lines')\n")
    monkeypatch.delenv("PLANWIRE_PAGER", raising=False)
    monkeypatch.delenv("PAGER", raising=False)
    return f"{sys.executable} {program}"


@pytest.mark.parametrize("variable", ["PAGER", "PLANWIRE_PAGER"])
@pytest.mark.parametrize("command", [["log"], ["log", "--json"]])
def test_a_terminal_gets_a_pager(
    pager: str, command: list[str], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, pager)
    with running(*command) as terminal:
        terminal.wait_for(b"PAGED ")


@pytest.mark.parametrize("command", [["show"], ["diff", "2"]])
def test_show_and_diff_are_paged_too(pager: str, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", pager)
    with running(*command) as terminal:
        terminal.wait_for(b"PAGED")


@pytest.mark.parametrize(
    ("pager_variable", "own_variable", "options"),
    [
        ("sh -c 'exit 9'", None, ["--no-pager"]),
        ("sh", "", []),
        (None, "cat", []),
        ("no-such-pager", None, []),
        ("'", None, []),
    ],
)
@pytest.mark.usefixtures("pager")
def test_a_person_can_do_without_it(
    pager_variable: str | None, own_variable: str | None, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("PAGER", pager_variable), ("PLANWIRE_PAGER", own_variable)):
        if value is not None:
            monkeypatch.setenv(name, value)
    with running("log", *options) as terminal:
        terminal.wait_for(b"new: a text of 26 characters")


@pytest.mark.usefixtures("pager")
def test_what_fits_on_the_screen_needs_no_key() -> None:
    """With less, if there is one: colours, and an end of its own."""
    with running("log") as terminal:
        seen = terminal.rest()
    assert "\x1b[1m“Design”".encode() in seen
    assert b"new: a text of 26 characters" in seen


@pytest.mark.usefixtures("pager")
def test_a_pager_that_is_closed_early_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", f"{sys.executable} -P -c pass")
    with running("log") as terminal:
        assert b"Traceback" not in terminal.rest()


def test_a_pipe_gets_no_pager(pager: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PAGER", pager)
    assert main(["log"]) == 0
    assert "PAGED" not in capfd.readouterr().out
