"""Facts about a PostgreSQL journal, and what an acknowledged append has gone through."""

from typing import Final

from planwire.journal.postgres.server import JournalServer, PostgresConnection
from planwire.journal.protocol import JournalFacts

_FACTS: Final = """SELECT current_setting('server_version'), current_database(), pg_is_in_recovery()::text,
    current_setting('synchronous_commit'), current_setting('fsync'), current_setting('synchronous_standby_names'),
    current_setting('full_page_writes'), pg_size_pretty(pg_database_size(current_database())),
    (SELECT version FROM planwire.journal)::text"""
_COMMITS: Final = {
    "remote_apply": "an append is on the disk of the server, and its synchronous standbys show it",
    "on": "an append is on the disks of the server and of its synchronous standbys",
    "remote_write": "an append is on the disk of the server, and its synchronous standbys have received it",
    "local": "an append is on the disk of the server; standbys may not have it yet",
}


def read_facts(server: JournalServer, connection: PostgresConnection) -> JournalFacts:
    [row] = connection.execute(server.sql(_FACTS)).fetchall()
    version, database, recovery, commit, fsync, standbys, pages, size, number = row
    facts = {
        "server": f"PostgreSQL {version}",
        "database": database,
        "schema": server.schema,
        "format": number,
        "size of the database": size,
        "in recovery": "yes: it is a standby and takes no appends" if recovery == "true" else "no",
        "synchronous_commit": commit,
        "fsync": fsync,
        "full_page_writes": pages,
        "synchronous_standby_names": standbys or "none",
    }
    if off := [name for name in ("fsync", "synchronous_commit") if facts[name] == "off"]:
        facts["risk"] = f"{' and '.join(off)}: it is off, so a crash or a power cut can take acknowledged events"
    return JournalFacts("postgresql", server.shown, promise(commit, fsync, standbys), facts)


def promise(commit: str, fsync: str, standbys: str) -> str:
    """What an append has gone through when it returns, according to the server's settings."""
    if fsync != "on":
        return "an append is in the server's memory: fsync is off, and a power cut can take any of the journal"
    if commit == "off":
        return "an append is in the server's memory: synchronous_commit is off, and a crash takes the last moments"
    return _COMMITS["local"].partition(";")[0] if not standbys else _COMMITS.get(commit, _COMMITS["on"])
