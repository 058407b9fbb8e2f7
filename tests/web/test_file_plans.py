"""Plans in files: followed on disk, and never a way to other files."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from planwire.model.events import PlanSet, SessionOpened
from planwire.model.plan import BODY_CAP, FilePlan
from planwire.readmodel.followed_files import path_of
from planwire.session.named_folders import note_folders
from planwire.web.plan_view import EDITORS, editor_link
from tests.waiting import until
from tests.web.board import Running, running_board

SECRET = "the secret words"


@pytest.fixture(scope="module")
def board() -> Iterator[Running]:
    """One for all tests of this file: every test has a folder of its own, and names its sessions after it."""
    with running_board() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "secret.md").write_text(f"# {SECRET}\n")
    (folder / "plan.md").write_text("# Release\n\n- [x] freeze\n- [~] notes\n- [ ] tag\n")
    return folder


def point_at(board: Running, uri: str, cwd: Path | str | None, session: str = "s1") -> str:
    """The file of a session whose process runs here."""
    if cwd is not None and Path(cwd).is_absolute():
        note_folders(cwd)
    board.write(
        session, SessionOpened("agent", "client", None if cwd is None else str(cwd)), PlanSet(FilePlan("p", uri))
    )
    return board.page(f"/sessions/{session}")


def test_a_plan_file_is_shown_with_its_steps_and_counts_as_progress(board: Running, project: Path) -> None:
    page = point_at(board, (project / "plan.md").as_uri(), project)
    assert "notes" in page
    assert 'data-status="current"' in page
    glance = board.json("/sessions/s1.json")
    assert (glance["progress"]["done"], glance["progress"]["total"], glance["current"]) == (1, 3, ["notes"])


def test_a_plan_file_is_followed_on_disk_and_its_steps_keep_their_ids(board: Running, project: Path) -> None:
    point_at(board, (project / "plan.md").as_uri(), project)
    with board.client.stream("GET", "/live/sessions/s1") as stream:
        lines = stream.iter_lines()
        next(line for line in lines if line.startswith("data:"))
        (project / "plan.md").write_text("# Release\n\n- [ ] first\n- [x] freeze\n- [x] notes\n- [~] tag\n")
        message = next(line for line in lines if line.startswith("data:"))
    assert "first" in message
    steps = {step["content"]: step["id"] for step in board.json("/sessions/s1.json")["plans"][0]["steps"]}
    assert steps == {"first": "s4", "freeze": "s1", "notes": "s2", "tag": "s3"}


@pytest.mark.parametrize("elsewhere", ["host", "user"])
def test_the_file_of_a_session_on_another_machine_or_account_is_not_read_here(
    board: Running, project: Path, elsewhere: str
) -> None:
    """This machine may have another file under the same path."""
    note_folders(project)
    session = f"elsewhere-{elsewhere}"
    opened = structs.replace(SessionOpened("agent", "client", str(project)), **{elsewhere: "another"})
    board.write(session, opened, PlanSet(FilePlan("p", (project / "plan.md").as_uri())))
    page = board.page(f"/sessions/{session}")
    assert "freeze" not in page
    assert "on the machine and account that its session runs on" in page
    assert [each.event for each in board.journal.read(session)][1:] == [
        PlanSet(FilePlan("p", (project / "plan.md").as_uri()))
    ]


def test_a_plan_file_that_is_gone_says_so_and_comes_back(board: Running, project: Path) -> None:
    file = project / "plan.md"
    point_at(board, file.as_uri(), project)
    text = file.read_text()
    file.unlink()
    board.server.app.hub.sessions.look_at_files("s1")
    assert "can&#39;t be found" in board.page("/sessions/s1")
    file.write_text(text)
    board.server.app.hub.sessions.look_at_files("s1")
    assert "notes" in board.page("/sessions/s1")


def test_files_outside_of_the_sessions_folder_are_not_read(board: Running, project: Path) -> None:
    secret = project.parent / "secret.md"
    for number, uri in enumerate(
        [
            secret.as_uri(),
            f"file://{project}/../secret.md",
            f"file://{project}/%2e%2e/secret.md",
            f"file://{project}/..%2fsecret.md",
            f"file://localhost{secret}",
            f"file:{secret}",
        ]
    ):
        assert SECRET not in point_at(board, uri, project, f"s{number}")


@pytest.mark.parametrize("cwd", [None, "", ".", "..", "relative", "/\0"])
def test_a_session_without_a_proper_folder_reads_nothing(
    board: Running, project: Path, cwd: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    assert SECRET not in point_at(board, (project.parent / "secret.md").as_uri(), cwd)


def test_a_link_out_of_the_folder_is_not_followed(board: Running, project: Path) -> None:
    (project / "link.md").symlink_to(project.parent / "secret.md")
    (project / "folder").symlink_to(project.parent)
    assert SECRET not in point_at(board, (project / "link.md").as_uri(), project, "a")
    assert SECRET not in point_at(board, (project / "folder" / "secret.md").as_uri(), project, "b")


def test_a_file_that_becomes_a_link_out_of_the_folder_is_shown_as_last_seen(board: Running, project: Path) -> None:
    file = project / "plan.md"
    assert "notes" in point_at(board, file.as_uri(), project)
    file.unlink()
    file.symlink_to(project.parent / "secret.md")
    board.server.app.hub.sessions.look_at_files("s1")
    page = board.page("/sessions/s1")
    assert SECRET not in page
    assert 'class="problem"' in page
    assert "notes" in page


def test_only_regular_markdown_files_of_a_bearable_size_are_read(board: Running, project: Path) -> None:
    (project / "large.md").write_text("x" * (BODY_CAP + 1))
    (project / "other.txt").write_text(SECRET)
    (project / "binary.md").write_bytes(b"\xff\xfe" + SECRET.encode())
    (project / "dir.md").mkdir()
    os.mkfifo(project / "pipe.md")
    for number, name in enumerate(["large.md", "other.txt", "binary.md", "dir.md", "pipe.md"]):
        page = point_at(board, (project / name).as_uri(), project, f"s{number}")
        assert 'class="problem"' in page, name
        assert SECRET not in page


@pytest.mark.parametrize(
    "uri",
    [
        "http://localhost/plan.md",
        "file://evil.example/share/plan.md",
        "file:relative.md",
        "file:///x%00.md",
        "file:///x.md?y",
        "file:///x.md#y",
        "file://[",
        "plan.md",
        "",
        "\\\\host\\share\\x.md",
        "file:////evil.example/share/x.md#",
    ],
)
def test_an_address_that_is_no_file_of_this_machine_is_shown_as_words(board: Running, uri: str, tmp_path: Path) -> None:
    assert 'class="problem"' in point_at(board, uri, tmp_path)


def test_the_path_of_an_address_is_what_it_says() -> None:
    assert path_of("file:///a%20b/%23.md") == "/a b/#.md"
    assert path_of("FILE://LOCALHOST/x.md") == "/x.md"


def test_a_folder_can_be_allowed_for_all_sessions(project: Path) -> None:
    with running_board(folders=[str(project.parent)]) as board:
        assert SECRET in point_at(board, (project.parent / "secret.md").as_uri(), project)


def test_a_plan_file_opens_in_the_editor_under_its_own_path_only(project: Path) -> None:
    odd = project / 'a "b"&<c>#?.md'
    odd.write_text("- [ ] x\n")
    with running_board(editor="vscode") as board:
        page = point_at(board, odd.as_uri(), project)
    assert f'href="vscode://file{project}/a%20%22b%22%26%3Cc%3E%23%3F.md"' in page
    for editor in EDITORS:
        link = editor_link(editor, "/x y&z=1#?.md")
        assert link is not None
        assert link.removeprefix(EDITORS[editor]).count("&") == 0


def test_a_file_that_is_written_over_and_over_ends_as_it_is(board: Running, project: Path) -> None:
    file = project / "plan.md"
    point_at(board, file.as_uri(), project)
    for number in range(20):
        file.write_text(f"- [ ] version {number}\n")
        board.server.app.hub.sessions.look_at_files("s1")
    until(lambda: "version 19" in board.page("/sessions/s1"))
