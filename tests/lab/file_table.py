"""Every file that planwire writes, how to make one, and what its readers see of it.

A row's `make` writes files to a folder, and calls `older` in the middle. `look` returns what readers see; planwire's
errors say that a file is damaged. `may_be` says which other sights tell of the damage themselves, or harm nobody.
"""

import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from planwire.journal import Once, open_journal
from planwire.journal.away.last_known import LastKnown
from planwire.journal.away.outage import SharedOutage
from planwire.journal.private_urls import resolved, write_url
from planwire.journal.spool import Lost, Spool, Spooled
from planwire.journal.thoughts_file import FileThoughts
from planwire.journal.verifying import verify
from planwire.model.events import Gap, TurnEnded
from planwire.model.records import SessionState
from planwire.relay.agents import AgentRow
from planwire.relay.learned_agents import keep_row, learned_rows, rows_folder
from planwire.session.users_file import UsersFile
from tests.journal.outages import Outage, behind, open_server
from tests.journal.test_contract import said
from tests.lab.file_writers import text_of, thought_of
from tests.waiting import until

__all__ = ["ELSEWHERE", "ROWS", "Row", "Said"]


class Said(Exception):
    """A reader says that something is damaged."""


class Row(Struct, frozen=True, kw_only=True):
    """Files by their patterns, the modules that write them, and whether a person may write them, too: then a change
    that leaves them readable is as good as theirs."""

    patterns: tuple[str, ...]
    modules: tuple[str, ...]
    make: Callable[[Path, Callable[[], object]], None]
    look: Callable[[Path], object]
    may_be: Callable[[Any, Any], bool] = lambda _found, _before: False
    is_editable: bool = False


TEXTS: Final = 24


def _journal(folder: Path, older: Callable[[], object]) -> None:
    with open_journal(folder / "journal.db") as journal:
        for number in range(TEXTS):
            journal.append("s", said(text_of(number)), once=Once("k", number))
            if number == TEXTS // 2:
                journal.keep_snapshot("s", 1, b"snapshot")
    older()
    with open_journal(folder / "journal.db") as journal:
        journal.append("s", said("last"))


def _journal_in_use(folder: Path, older: Callable[[], object]) -> None:
    """As a process leaves it that is killed: with its log."""
    (folder / "live").mkdir()
    with open_journal(folder / "live" / "journal.db") as journal:
        for number in range(TEXTS):
            journal.append("s", said(text_of(number)))
            if number == TEXTS // 2:
                _copy_live(folder)
                older()
        _copy_live(folder)
    shutil.rmtree(folder / "live")


def _copy_live(folder: Path) -> None:
    for each in (folder / "live").glob("journal.db*"):
        shutil.copyfile(each, folder / each.name)


def _events(folder: Path) -> object:
    with open_journal(folder / "journal.db", create=False) as journal:
        found = [(each.seq, each.event) for each in journal.read("s")]
        if troubles := verify(journal).troubles:
            raise Said(troubles)
        return found


def _begins(found: list[object], before: list[object]) -> bool:
    """The newest events of a log are gone: a log that ends early is what a power cut leaves, and nothing tells them
    apart. Who knew later events says so."""
    return found == before[: len(found)]


def _away(folder: Path, older: Callable[[], object]) -> None:
    outage = Outage(folder)
    outage.begin()
    with behind(folder) as journal:
        for number in range(TEXTS):
            journal.append("s", said(text_of(number)))
            if number == TEXTS // 2:
                older()


def _delivered(folder: Path) -> object:
    Outage(folder).end()
    with behind(folder) as journal:
        until(journal.tend)
    with open_server(folder) as server:
        events = [each.event for each in server.read("s")]
        assert not verify(server).troubles
    texts = [each.stop_reason for each in events if isinstance(each, TurnEnded)]
    return texts, sum(each.count for each in events if isinstance(each, Gap))


def _each_counted(found: tuple[list[str], int], before: tuple[list[str], int]) -> bool:
    """What is not delivered is counted. Nobody knows whose it was if no record is left that says a session; a file from
    before is an outage that ended then."""
    texts, lost = found
    return [each for each in before[0] if each in texts] == texts and (len(texts) + lost == len(before[0]) or not texts)


def _spool(folder: Path, older: Callable[[], object]) -> None:
    spool = Spool(folder / "hooks")
    for number in range(TEXTS):
        assert spool.append({"session": "s"}, text_of(number).encode())
        if number == TEXTS // 2:
            older()


def _drained(folder: Path) -> object:
    spool = Spool(folder / "hooks")
    with (lock := spool.drainer_lock()):
        found = [each for segment in spool.drain(lock) for each in segment]
    bodies = [each.body.decode() for each in found if isinstance(each, Spooled)]
    return bodies, sum(each.count for each in found if isinstance(each, Lost))


def _users(folder: Path, older: Callable[[], object]) -> None:
    file = UsersFile(folder / "users.json")
    file.add("Ann", "approve", "root")
    older()
    file.add("Ben", "look", "Ann")


def _last_known(folder: Path, older: Callable[[], object]) -> None:
    kept = LastKnown(folder / "last-known")
    for seq in (5, 9):
        kept.note(SessionState("s", seq=seq, at=seq))
        kept.note(SessionState("t", seq=1, at=seq))
        kept.write()
        older()


def _known(folder: Path) -> object:
    kept = LastKnown(folder / "last-known")
    return {session: kept.state(session) for session in ("s", "t")}


def _some_unknown(found: dict[str, object], before: dict[str, object]) -> bool:
    return all(state in (None, before[session]) for session, state in found.items())


def _thoughts(folder: Path, older: Callable[[], object]) -> None:
    with closing(FileThoughts(folder / "thoughts.db")) as kept:
        for number in range(TEXTS):
            kept.keep("s", thought_of(number))
    older()
    with closing(FileThoughts(folder / "thoughts.db")) as kept:
        kept.keep("s", thought_of(TEXTS))


def _thought(folder: Path) -> object:
    with closing(FileThoughts(folder / "thoughts.db")) as kept:
        return kept.find("s", [thought_of(number).digest for number in range(TEXTS + 1)])


def _fewer(found: Mapping[str, object], before: Mapping[str, object]) -> bool:
    """A thought that is gone counts as forgotten."""
    return found.items() <= before.items()


def _urls(folder: Path, older: Callable[[], object]) -> None:
    for name in ("old", "new"):
        write_url(folder / "journals" / "one.url", f"postgresql://ann:secret@example.org/{name}")
        older()


def _rows(folder: Path, older: Callable[[], object]) -> None:
    for version in ("1.0", "2.0"):
        keep_row(AgentRow(agent="an agent", names=(version,)))
        shutil.copytree(rows_folder(), folder / "agents", dirs_exist_ok=True)
        older()


def _read_rows(folder: Path) -> object:
    warnings: list[str] = []
    shutil.copytree(folder / "agents", rows_folder(), dirs_exist_ok=True)
    found = learned_rows(warnings.append)
    if warnings:
        raise Said(warnings)
    return found


def _outage(folder: Path, older: Callable[[], object]) -> None:
    shared = SharedOutage(folder / "away")
    shared.note("the server is away")
    shared.note_answer(1.5)
    older()


ROWS: Final[dict[str, Row]] = {
    "journal": Row(
        patterns=("journal.db",),
        modules=("journal/sqlite/file", "journal/drafts", "journal/restoring", "journal/backup"),
        make=_journal,
        look=_events,
    ),
    "journal with a log": Row(
        patterns=("journal.db", "journal.db-wal", "journal.db-shm"),
        modules=("journal/sqlite/file",),
        make=_journal_in_use,
        look=_events,
        may_be=_begins,
    ),
    "waiting for a server": Row(
        patterns=("outbox/*", "journal.db*", "server-away"),
        modules=("journal/spool_append", "journal/spool", "journal/away/outage"),
        make=_away,
        look=_delivered,
        may_be=_each_counted,
    ),
    "waiting records of hooks": Row(
        patterns=("hooks/*",),
        modules=("journal/spool_append", "journal/spool"),
        make=_spool,
        look=_drained,
        may_be=_each_counted,
    ),
    "users": Row(
        patterns=("users.json", ".users.json.lock"),
        modules=("session/users_file",),
        make=_users,
        look=lambda folder: UsersFile(folder / "users.json").read(),
        is_editable=True,
    ),
    "last known": Row(
        patterns=("last-known/*",),
        modules=("journal/away/last_known",),
        make=_last_known,
        look=_known,
        may_be=_some_unknown,
    ),
    "thoughts": Row(
        patterns=("thoughts.db",),
        modules=("journal/thoughts_file",),
        make=_thoughts,
        look=_thought,
        may_be=_fewer,
    ),
    "URLs of journals": Row(
        patterns=("journals/one.url",),
        modules=("journal/private_urls",),
        make=_urls,
        look=lambda folder: resolved(f"@{folder}/journals/one.url"),
        is_editable=True,
    ),
    "learned agents": Row(
        patterns=("agents/*",),
        modules=("relay/learned_agents",),
        make=_rows,
        look=_read_rows,
        is_editable=True,
    ),
    "an outage": Row(
        patterns=("away/*",),
        modules=("journal/away/outage",),
        make=_outage,
        look=lambda folder: SharedOutage(folder / "away").patience(2.0) <= 4.0,
    ),
}
#: Modules whose files are none that a damaged disk could turn into something else, and why.
ELSEWHERE: Final = {
    "cli/checked_agent": "folders of one check",
    "cli/file_swap": "a person's own settings",
    "cli/hook_trial": "a folder of one trial",
    "cli/plugin_folder": "the plugin of an agent, which setup compares and writes anew, and a receipt beside it",
    "cli/scripted_home": "a folder of one check",
    "cli/trial_agent": "the log of one trial",
    "cli/trial_server": "the log of one trial",
    "cli/trying": "a folder of one trial",
    "demo/agent": "the plan file of the demo, which a person may change",
    "hooks/answer_files": "an answer that a hook waits for, for seconds",
    "hooks/hooked_sessions": "an empty file: only its name counts",
    "hooks/thin_hook": "a call that waits for its outcome, for seconds",
    "journal/drainer_lock": "an empty lock",
    "journal/lock_files": "an empty lock",
    "journal/sqlite/unwritable": "a copy to read, as long as a process runs",
    "relay/handoffs": "a folder as long as a relay runs",
    "session/editor": "a text as long as an editor shows it",
    "session/handoff": "a file as long as a relay runs",
    "session/known_agents": "the name of an agent, as long as it runs",
    "session/named_folders": "an empty file: only its name counts",
    "session/recording_mark": "two numbers as long as a relay runs",
}
