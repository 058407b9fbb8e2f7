"""An agent or a client that calls itself by a person's name, or by none that can be printed, on every face."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from planwire.journal import open_journal
from planwire.mcp.resources import MARKDOWN, plan_text
from planwire.model.authors import LONGEST_NAME, below, program_name, reported_by
from planwire.model.events import ACP, APPROVED, PlanReviewed, PlanSet, ReviewAsked, SessionOpened
from planwire.readmodel.as_markdown import session_markdown
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.sessions import load_session
from planwire.session.known_agents import known_agent
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.cli.answers import answer
from tests.journals import add, items
from tests.terminal.watched import HEAD, seen, watching
from tests.web.board import running_board

#: Names, and what faces print for an agent of that name.
NAMES = {
    "user": "",
    "You": "",
    "the user": "",
    "u\u0455er": "",
    "\uff55ser": "",
    "user (by a script)": "user by a script",
    "Ann": "Ann",
    "\u202eresu": "resu",
    "y\u200bou": "y ou",
    "\u3164": "",
    "\x1b[2Ja\nReview    approved   Ann, just now": "2Ja Review approved Ann just now",
    "<b>claude</b> `x`": "b claude /b x",
    "z" * 10_000: "z" * LONGEST_NAME,
    "हिन्दी": "हिन्दी",
    "“Plan”, ☑ approved · Ann\ufe0f\u0489": "Plan approved Ann",
}
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u3164]")


def recorded(place: Path, name: str) -> Path:
    """A session of an agent and a client of that name: a plan with a verdict of the client's, and one that waits."""
    path = place / "plans.db"
    opened = SessionOpened(name, name, str(place), "Port the parser")
    plans = PlanSet(items("main", "pending"), via=ACP), PlanSet(items("next", "pending"), via=ACP)
    add(path, "s1", "agent", opened, *plans, ReviewAsked("main", (), "q"))
    add(path, "s1", "client", PlanReviewed("main", 4, APPROVED, question="q"))
    with open_journal(path) as journal, known_agent(1, name):
        steer(journal, "s1", "main", Wanted("comment", text="go", seen=2), "Bob")
    add(path, "s1", "agent", ReviewAsked("next", (), "p"))
    return path


@pytest.mark.parametrize(("name", "plain"), NAMES.items(), ids=[str(number) for number in range(len(NAMES))])
def test_no_face_prints_a_name_that_passes_for_another_or_breaks_its_line(
    name: str, plain: str, tmp_path: Path
) -> None:
    assert program_name(name) == plain
    path = recorded(tmp_path, name)
    faces = {
        command: answer(command, *session, "--journal", str(path)).out
        for command, *session in (["sessions"], ["show", "s1"], ["log", "s1"], ["export", "s1"])
    }
    with open_journal(path) as journal:
        [known] = journal.sessions()
        shown = load_session(journal, known, FilePlans())
        faces["markdown"] = session_markdown(shown)
        faces["resources"] = "\n".join(plan_text(card, MARKDOWN) for card in shown.cards())
    with running_board(str(path)) as board:
        pages = {each: board.page(each) for each in ("/sessions", "/sessions/s1", "/sessions/s1/history")}
        raw = board.json("/sessions/s1.json")
    faces |= {address: re.sub("<[^>]*>", "\n", page) for address, page in pages.items()}
    faces["watch"] = in_watch(path)
    for face, text in faces.items():
        assert not UNPRINTABLE.search(text), face
        assert not any("z" * (LONGEST_NAME + 1) in line for line in text.splitlines()), face
        assert not re.search(r"(?im)^\W*(the )?(user|you)\W*$", text), face
        assert not any(line.strip().startswith("Review    approved   Ann") for line in text.splitlines()), face
    assert "<b>claude" not in "".join(pages.values())
    assert f"someone in {plain or 'the editor'}"[:60] in re.sub(r"\s+", " ", faces["show"])
    assert [raw["agent"], raw["client"]] == [name, name], "JSON has what they said"
    assert json.loads(answer("sessions", "--json", "--journal", str(path)).out)["sessions"][0]["agent"] == name


def in_watch(path: Path) -> str:
    """What the overview and the session's screen show."""

    async def looked() -> str:
        async with watching(path, size=(160, 40)) as (app, _):
            overview = seen(app)
        async with watching(path, "s1", size=(160, 40)) as (app, _):
            return f"{overview}\n{seen(app)}\n{seen(app, HEAD)}"

    return asyncio.run(looked())


@pytest.mark.parametrize("name", NAMES)
def test_a_way_names_a_program_and_nobody_else(name: str) -> None:
    plain = NAMES[name] or "an agent"
    assert (below(name), reported_by(name)) == (f"below {plain}", f"as {plain} reports")
