"""Format 1, the first: journals from before it are refused in one sentence, and whatever wrote those refuses ours."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planwire.cli.exit_codes import NOT_DONE
from planwire.errors import JournalError, NotAJournal
from planwire.hooks.command_line import Role
from planwire.journal import open_journal
from planwire.journal.engines import open_engine
from planwire.journal.format import FORMAT
from tests.agents.driving import Relayed
from tests.cli.answers import answer
from tests.hooks.test_entry import PAYLOAD, records, run
from tests.journal.test_contract import said
from tests.journal.test_damage import contents
from tests.relay.test_run import LIST
from tests.servers.nats import fresh_name, shared
from tests.servers.postgres import postgres

#: The marks of development versions, and how these looked for them.
OLD_APPLICATION_ID = 0x706C7772
OLD_KIND = "planwire session"
OLD_DESCRIPTION = "planwire journal, format "
OLD_NUMBERS = 1_000
OLD_QUERY = "SELECT format, forgotten FROM {}.journal"


def development_journal(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE)")
        connection.execute(f"PRAGMA application_id = {OLD_APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("PRAGMA journal_mode = WAL")
    return path


def test_a_development_journal_is_refused_in_one_sentence_and_stays_as_it_is(path: Path) -> None:
    before = contents(development_journal(path).parent)
    with pytest.raises(NotAJournal) as refused:
        open_journal(path)
    assert str(refused.value) == (
        f"the journal {path} is from a development version of planwire, and can't be carried over to this one: move "
        "that file away, or name another one. Nothing was changed"
    )
    assert contents(path.parent) == before


def test_whatever_wrote_development_journals_refuses_ours(path: Path) -> None:
    open_journal(path).close()
    with closing(sqlite3.connect(path)) as connection:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    assert application_id != OLD_APPLICATION_ID, "else they would take it for theirs"
    assert f"format    {FORMAT}\n" in answer("journal", "info", "--journal", str(path)).out


def test_a_development_export_is_refused_and_what_wrote_it_refuses_ours(path: Path, tmp_path: Path) -> None:
    with open_journal(path) as journal:
        journal.append("s", said("one"))
    export = json.loads(answer("export", "s", "--format", "json", "--journal", str(path)).out)
    assert (export["kind"] != OLD_KIND, export["format"]) == (True, FORMAT)
    old = tmp_path / "old.json"
    old.write_text(json.dumps({**export, "kind": OLD_KIND}))
    refused = answer("import", str(old), "--journal", str(path))
    assert refused.code != 0
    assert (
        refused.err == f"planwire: {old} is from a development version of planwire, and can't be imported by this one\n"
    )


def test_a_development_schema_is_refused_and_what_made_it_refuses_ours() -> None:
    url = postgres().fresh_url()
    schema = url.rpartition("schema=")[2]
    with open_engine(url):
        pass
    with postgres().connect() as connection:
        found = connection.execute(OLD_QUERY.format(schema)).fetchone()
        assert found is not None
        assert found[0] > OLD_NUMBERS, "they refuse what is newer, and keep nothing for a server that seems away"
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"CREATE TABLE {schema}.journal (format int NOT NULL, forgotten bigint NOT NULL)")
        connection.execute(f"INSERT INTO {schema}.journal VALUES (1, 0)")
        for create in (True, False):
            with pytest.raises(
                NotAJournal, match=f"the schema {schema} of .* development version.*: rename that schema"
            ):
                open_engine(url, create=create)
        assert connection.execute(OLD_QUERY.format(schema)).fetchone() == (1, 0)


@pytest.mark.parametrize("number", [1, 2])
def test_a_development_stream_is_refused_and_what_made_it_refuses_ours(number: int) -> None:
    name = fresh_name()
    with open_engine(shared().url(name)) as journal:
        ours: Any = journal
        assert not ours._stream.info()["config"]["description"].startswith(OLD_DESCRIPTION)
        old = fresh_name()
        config = {"name": old, "subjects": [f"{old}.events.*"], "description": f"{OLD_DESCRIPTION}{number}"}
        ours._api.call(f"STREAM.CREATE.{old}", **config)
    with pytest.raises(NotAJournal, match=f"the stream {old} at .* development version.*: name another one"):
        open_engine(shared().url(old))


def test_traffic_passes_a_development_journal_byte_for_byte_and_the_relay_says_so(tmp_path: Path) -> None:
    journal = development_journal(tmp_path / "journal.db")
    before = journal.read_bytes()
    with Relayed("scripted.py", str(tmp_path / "agent.jsonl"), journal=journal) as relayed:
        session = relayed.begin()
        for _ in range(20):
            assert relayed.prompt(session, LIST) == [LIST]
        code, errors = relayed.end()
    assert code == 0
    assert errors.count("planwire: ") == 1
    assert f"the journal {journal} is from a development version of planwire" in errors
    assert "Traceback" not in errors
    assert journal.read_bytes() == before


@pytest.mark.parametrize("role", ["record", "tell"])
def test_hooks_end_well_beside_a_development_journal_and_what_they_said_waits(role: Role, tmp_path: Path) -> None:
    journal = development_journal(tmp_path / "journal.db")
    folder = tmp_path / "journal.db-hooks"
    assert run(role, folder, PAYLOAD, "claude-code").stdout == b""
    assert "is from a development version of planwire" in answer("sessions", "--journal", str(journal)).err
    assert [each.body for each in records(folder)] == [PAYLOAD]


def test_the_doctor_names_a_development_journal(tmp_path: Path) -> None:
    journal = development_journal(tmp_path / "journal.db")
    found = answer("doctor", "--journal", str(journal))
    assert found.code == NOT_DONE
    assert f"to do  journal: sqlite:{journal}: the journal {journal} is from a development version" in found.out


def test_a_development_journal_can_be_no_source_and_no_target_of_copies(path: Path, tmp_path: Path) -> None:
    old = development_journal(tmp_path / "old.db")
    for words in (["backup", "new.db", "--journal", str(old)], ["restore", str(old), "--journal", str(path)]):
        refused = answer("journal", *words)
        assert refused.code != 0
        assert "is from a development version of planwire" in refused.err
    assert issubclass(NotAJournal, JournalError)
