"""Where a session runs: this machine, this account, and the repository by the name that every clone of it has."""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire import BlockingPlanSession
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.model.additions import addition
from planwire.model.events import SessionOpened
from planwire.model.records import SessionState
from planwire.session.forks import fork_session
from planwire.session.origin import placed, repository_name, repository_of, this_host, this_user
from tests import deciding
from tests.deciding import fold_all


@pytest.fixture
def journal() -> Journal:
    return open_journal("memory:")


def repository(folder: Path, settings: str = "") -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git/config").write_text(f"[core]\n\tbare = false\n{settings}")
    return folder


def origin(address: str) -> str:
    return f'[remote "origin"]\n\turl = {address}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/tool",
        "https://github.com/acme/tool.git",
        "https://github.com/acme/tool.git/",
        "https://ann:s3cret@github.com/acme/tool.git",
        "https://x-access-token:s3cret@github.com/acme/tool",
        "https://s3cret@github.com/acme/tool",
        "https://ann:s3/cret@github.com/acme/tool",
        "https://GitHub.com:443/acme/tool?private_token=s3cret#x",
        "git@github.com:acme/tool.git",
        "git@github.com:/acme/tool.git",
        "github.com:acme/tool",
        "ssh://git@github.com/acme/tool.git",
        "ssh://git@github.com:2222/acme/tool.git",
        "git+ssh://git@github.com/acme//tool.git",
        "git://github.com/acme/tool.git",
    ],
)
def test_every_clone_of_a_repository_has_one_name_and_no_secret_is_in_it(address: str) -> None:
    assert repository_name(address) == "github.com/acme/tool"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/srv/git/tool.git", "tool"),
        ("../tool", "tool"),
        ("file:///srv/git/tool.git", "tool"),
        (r"C:\git\tool.git", "tool"),
        ("/srv/git/tool/.git", "tool"),
        ("ssh://[2001:db8::1]:22/acme/tool.git", "2001:db8::1/acme/tool"),
        ("", None),
        ("/", None),
    ],
)
def test_a_repository_on_a_disk_is_called_like_its_folder(address: str, name: str | None) -> None:
    assert repository_name(address) == name


@given(st.text(min_size=1).map(lambda text: f"s3cret{text}"), st.sampled_from(["", "ann:", ":"]))
def test_no_credentials_survive_in_a_name(secret: str, before: str) -> None:
    if not any(each in secret for each in ("@?#" if before else "@?#/")):  # or it ends before the host
        name = repository_name(f"https://{before}{secret}@host.example/acme/tool.git")
        assert name is None or "s3cret" not in name


def test_a_folder_in_a_repository_has_the_name_of_its_remote(tmp_path: Path) -> None:
    top = repository(tmp_path / "anything", origin("git@example.org:acme/tool.git"))
    (top / "a/b").mkdir(parents=True)
    assert repository_of(str(top / "a/b")) == repository_of(str(top)) == "example.org/acme/tool"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ("", "top"),
        ('[remote "upstream"]\n\turl = https://h/up/x\n' + origin("https://h/a/x"), "h/a/x"),
        ('[remote "upstream"]\n\turl = https://h/up/x\n', "h/up/x"),
        ('[REMOTE "origin"] URL = "https://h/a/x"  # mine\n', "h/a/x"),
        ('[branch "origin"]\n\turl = https://h/no\n[remote]\n\turl = https://h/no\n', "top"),
        (origin("https://h/a/x ; mine"), "h/a/x"),
        (origin(""), "top"),
        ("\0\0[[[", "top"),
    ],
)
def test_git_settings_are_read_without_git(tmp_path: Path, settings: str, name: str) -> None:
    assert repository_of(str(repository(tmp_path / "top", settings))) == name


def test_a_worktree_and_a_submodule_have_the_names_of_their_remotes(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", origin("https://h/acme/tool"))
    (top / ".git/worktrees/w").mkdir(parents=True)
    (top / ".git/worktrees/w/commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text(f"gitdir: {top}/.git/worktrees/w\n")
    module = top / ".git/modules/m"
    module.mkdir(parents=True)
    (module / "config").write_text(origin("https://h/acme/module"))
    (top / "m").mkdir()
    (top / "m/.git").write_text("gitdir: ../.git/modules/m\n")
    assert repository_of(str(tmp_path / "w")) == "h/acme/tool"
    assert repository_of(str(top / "m")) == "h/acme/module"


def test_real_git_agrees_on_a_worktree(tmp_path: Path) -> None:
    def git(*words: str, at: Path) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=at, check=True, timeout=30)

    top = tmp_path / "top"
    top.mkdir()
    git("init", "-q", at=top)
    git("remote", "add", "origin", "https://ann:s3cret@h/acme/tool.git", at=top)
    git("commit", "-q", "--allow-empty", "-m", "x", at=top)
    git("worktree", "add", "-q", "../other", at=top)
    assert repository_of(str(tmp_path / "other")) == repository_of(str(top)) == "h/acme/tool"


def test_nothing_about_a_folder_makes_it_fail_or_wait(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    repository(odd)
    (odd / ".git/config").unlink()
    os.mkfifo(odd / ".git/config")
    looped = tmp_path / "looped"
    looped.mkdir()
    (looped / ".git").symlink_to(looped / ".git")
    text = tmp_path / "text"
    text.mkdir()
    (text / ".git").write_text("no such thing")
    assert repository_of(str(odd)) == "odd"
    for each in (looped, text, tmp_path / "gone", "relative", "", "\0", "C:\\x", "/" + "x" * 5_000):
        assert repository_of(str(each)) is None


def test_a_folder_is_looked_at_once(tmp_path: Path) -> None:
    top = repository(tmp_path / "top", origin("https://h/a/x"))
    placed(SessionOpened(cwd=str(top)))
    begun = perf_counter()
    for _ in range(100):
        placed(SessionOpened(cwd=str(top)))
    assert perf_counter() - begun < 0.1


def test_what_is_said_of_a_session_stays(tmp_path: Path) -> None:
    about = SessionOpened(cwd=str(repository(tmp_path / "top")), host="devbox", user="ann", repository="h/x")
    assert placed(about) == about
    here = placed(SessionOpened(cwd=about.cwd))
    assert (here.host, here.user, here.repository) == (this_host(), this_user(), "top")


def test_a_process_without_an_account_has_no_user() -> None:
    code = (
        "import pwd; pwd.getpwuid = {}.__getitem__; from planwire.session.origin import this_user; print(this_user())"
    )
    kept = {name: value for name, value in os.environ.items() if name not in ("LOGNAME", "USER", "USERNAME")}
    done = subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True, check=True)
    assert done.stdout == "None\n", done.stderr


# What is written


def opened(*events: SessionOpened) -> SessionOpened | None:
    """What is known after those of the events that say something new, as every writer writes them."""
    with open_journal("memory:") as journal:
        for event in events:
            new = addition(load_state(journal, "s"), event)
            if new is not None:
                deciding.write(journal, "s", Stamped(1, "relay", new))
        return fold_all("s", journal.read("s"), SessionState("s")).opened


def test_a_session_that_moves_on_to_a_folder_without_a_repository_has_none() -> None:
    first = SessionOpened(cwd="/a", host="h", user="u", repository="r")
    assert opened(first, SessionOpened(cwd="/b", host="h", user="u")) == SessionOpened(cwd="/b", host="h", user="u")
    assert opened(first, SessionOpened(cwd="/b", repository="r")) == SessionOpened(
        cwd="/b", host="h", user="u", repository="r"
    )
    assert opened(first, SessionOpened(title="t")) == SessionOpened(
        cwd="/a", title="t", host="h", user="u", repository="r"
    )
    assert addition(SessionState("s", opened=first), first) is None


def test_a_session_says_where_it_runs_once_and_a_fork_keeps_it(journal: Journal, tmp_path: Path) -> None:
    cwd = str(repository(tmp_path / "top", origin("https://h/acme/tool")))
    for _ in range(2):
        plans = BlockingPlanSession(journal, "s", about=SessionOpened(agent="a", cwd=cwd))
        plans.introduce("a", cwd)
        plans.add({"role": "user", "content": "go"})
    known = plans.state.opened
    assert known is not None
    assert (known.host, known.user, known.repository) == (this_host(), this_user(), "h/acme/tool")
    said = [each.event for each in journal.read("s") if isinstance(each.event, SessionOpened)]
    assert [each.host for each in said] == [this_host(), None]
    fork_session(journal, "s", "f", None, "ann")
    forked = load_state(journal, "f").opened
    assert forked is not None
    assert (forked.host, forked.repository) == (this_host(), "h/acme/tool")


def test_a_session_that_is_forgotten_while_its_agent_works_begins_anew_with_what_is_known(journal: Journal) -> None:
    plans = BlockingPlanSession(journal, "s", about=SessionOpened(agent="a", cwd="/p", title="Port it"))
    plans.call("set_plan", {"entries": ["read"]})
    before = plans.state.opened
    journal.forget("s")
    plans.call("set_plan", {"entries": ["read"]}, call_id="c1")
    assert plans.state.opened == before
    first, *_ = journal.read("s")
    assert first.event == before
    assert plans.call("set_plan", {"entries": ["read"]}, call_id="c1")["revision"] == 2
