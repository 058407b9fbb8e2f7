"""What comes out of a journal, a wire or a repository is no authority over this machine.

Each call of planwire's that opens a file, starts a process or makes a connection is in a table here, by whose word it
does so: by its file and its function. The last table takes words from elsewhere, and says what is asked of them first.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import planwire

ROOT = Path(planwire.__file__).parent
#: Calls that reach a file, a process or a server, or run a module.
REACHING: Final = {
    *("Popen", "check_call", "check_output", "create_subprocess_exec", "create_subprocess_shell", "execv", "execve"),
    *("kill", "killpg", "popen", "posix_spawn", "system", "import_module", "run_module", "run_path"),
    *("bind", "connect", "create_connection", "create_server", "getaddrinfo", "load_cert_chain"),
    *("load_verify_locations", "open_connection", "open_unix_connection", "urlopen"),
    *("copyfile", "hardlink_to", "mkdir", "mkdtemp", "mkfifo", "mkstemp", "mmap", "open", "read_bytes", "read_text"),
    *("rename", "rmtree", "symlink_to", "touch", "unlink", "write_bytes", "write_text"),
}
#: Methods and functions of planwire's own that are named like these, and reach nothing themselves.
OWN: Final = {
    "PlanSession.open",
    "engine.open",
    "self._calls.bind",
    "self._relayed.open",
    "self._stream.open",
    "self._tools.bind",
    "self._tools.open",
    "relayed.open",
    "write_text",
}

#: Planwire's own files: in the user's data, beside the journal, or in a folder that planwire made.
OURS: Final = """
    __init__: __getattr__
    chat/__init__: __getattr__
    cli/__init__: _fill
    cli/file_swap: read_bytes refuse_if_changed swap_bytes
    cli/journal: run
    cli/plugin_folder: _opencode_file _read read_receipt remove write write_files
    cli/settings_write: plan_edit plan_undo write
    cli/terminal_setup: _install _with_settings
    cli/terminal_undo: check_settings take_out
    demo/agent: _checklist _tick_checklist
    demo/client: project_folder
    hooks/answer_files: _offer _remove _settled
    hooks/own_calls: _left bind
    hooks/thin_hook: _ancestors _become_planwire _fill_standard_streams _say_answer
    journal/away/last_known: _kept _remove write
    journal/away/outage: _slowness end known
    journal/backup: _checked_part _give_name _part_alone _reader _thoughts_put_beside _thoughts_reader copy_file
    journal/backup: sync_file
    journal/drainer_lock: _lock _removed_a_stale_one
    journal/lock_files: __init__ _runs _sweep_file remove
    journal/restoring: _put_aside _refuse_in_use _second_name restore_file
    journal/spool: _read _sealed done forget_aside set_aside
    journal/spool_append: _leave_a_sign _sweep is_drained locked make_folder put read_mark refill sync_folders
    journal/spool_append: write_mark
    journal/sqlite/drafts: __enter__ _is_abandoned _remove take_name
    journal/sqlite/file: _create connect file_alone make_folders open_file sync_folder
    journal/sqlite/guard: __init__
    journal/sqlite/journal: __init__
    journal/sqlite/mixture: refuse_mixture
    journal/sqlite/unwritable: _connect _private_copy
    journal/thoughts_file: _create _open
    own_process: _run_module
    relay/handoffs: __init__ _sweep_others close
    relay/learned_agents: keep_row learned_rows
    session/handoff: read_handoff take_up
    session/known_agents: _clear _made_record _name_in known_agent
    session/named_folders: note_folders
    session/recording_mark: __init__ read_mark
    session/users_file: _load _lock
"""
#: Paths, commands and servers that a person named: on a command line, in settings, in the environment.
PERSONS: Final = """
    cli/agent_client: _start _signal
    cli/agent_commands: run_command
    cli/board: run
    cli/board_process: board_process
    cli/checked_agent: check_agent _kept
    cli/codex_trust: _answered _end
    cli/health: _relays _is_about_us
    cli/hook_trial: tried
    cli/input_output: opened
    cli/journal_secrets: hide_secret
    cli/journal_verify: _note_before
    cli/opencode_settings: edited_files
    cli/pager: paged
    cli/scripted_home: _write
    cli/terminal_checks: _problems _commands _is_copied fired
    cli/trial_agent: main
    cli/trial_server: main
    cli/trying: _run _end_of _text
    hooks/transcript_files: _head _read_part
    journal/jetstream/dialing: find_server dial
    journal/jetstream/logins: _refuse_bad_files _tls_context
    journal/jetstream/settings: _context
    journal/jetstream/transport: connect
    journal/postgres/line: _connect
    journal/postgres/notices: _run
    journal/postgres/server: connect _refuse_sharing
    journal/private_urls: read_url
    relay/process: start_agent ended_after_us _open_standard_streams _is_in_foreground end_like watch
    session/editor: edit_file _read_back edited_prose edited_text
    web/listening: _is_answered addresses_of listen listen_on_path
    web/server: close
    web/tls_files: _content _damaged check_tls
"""
#: Fixed places of the system.
SYSTEMS: Final = """
    cli/__init__: main
    journal/machines: this_machine
    journal/processes: _from_proc _from_ps
    relay/pipe: _let_go
"""
#: Words from a wire, a hook, a journal or a repository, and what is asked of them first.
ELSEWHERE: Final = {
    "hooks/claude_refusal: _bytes": "the transcript that an agent's hook names: a regular file, searched for a refusal",
    "hooks/looking: _end_of_file": "the same, and only a regular file: steps and plans that the agent has in it",
    "hooks/opencode_database: _opened": "a database that the agent's hook names: a regular file, opened to be read",
    "hooks/todo_database: todos_in": "a database that the agent's hook names: a regular file, opened to be read",
    "hooks/hooked_sessions: _mark": "an id that a hook names: if it is letters and digits, a file of ours is called so",
    "journal/lock_files: _opened": "a holder in a journal's row: a file of ours is called so, if it is 16 hex digits",
    "relay/server_files: _text": "settings in the folder that a client names: inside it, regular, never shown",
    "session/origin: _read": "Git's files above the folder that a session names: regular ones, for one address",
    "tools/plan_files: _opened": "a plan file: markdown inside folders that were named here, without links, `/`, homes",
    "web/frame: asset": "a name in the address of a request: only those of our own files",
}


def functions(node: ast.AST, name: str = "") -> Iterator[str]:
    """The functions of a file that reach a file, a process or a server; a call outside of any is `the module`'s."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Call) and is_reaching(ast.unparse(inner.func)):
            yield name or "the module"
        is_function = isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from functions(inner, getattr(inner, "name", "") if is_function else name)


def is_reaching(call: str) -> bool:
    return call not in OWN and (call.rpartition(".")[2] in REACHING or call == "subprocess.run")


@pytest.mark.parametrize(
    "code",
    [
        "def f(): open(path)",
        "def f(): return [each.read_text() for each in paths]",
        "async def f(): await asyncio.create_subprocess_exec(command)",
        "class A:\n def f(self): subprocess.check_output(words)",
        "def f(): shutil.rmtree(folder)",
        "def f(): socket.create_connection(place)",
        "def f(): import_module(name)",
    ],
)
def test_a_call_is_found_however_it_is_written(code: str) -> None:
    assert [*functions(ast.parse(code))] == ["f"]


def test_no_call_that_reaches_the_machine_goes_by_another_name() -> None:
    """As in `from os import open as look`, which no table would find."""
    taken = {
        (path.relative_to(ROOT).as_posix(), name.name)
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level == 0 and not (node.module or "").startswith("planwire")
        for name in node.names
        if name.asname and name.name in REACHING
    }
    assert taken == set()


def named(table: str) -> set[tuple[str, str]]:
    """The pairs of file and function in a table: one file in a line."""
    rows = (line.split(":") for line in table.strip().splitlines())
    return {(file.strip(), function) for file, names in rows for function in names.split()}


def test_every_call_that_reaches_the_machine_says_by_whose_word() -> None:
    found = {
        (path.relative_to(ROOT).with_suffix("").as_posix(), function)
        for path in ROOT.rglob("*.py")
        for function in functions(ast.parse(path.read_text()))
    }
    tables = [named(OURS), named(PERSONS), named(SYSTEMS), named("\n".join(ELSEWHERE))]
    listed = set().union(*tables)
    assert len(listed) == sum(map(len, tables)), "a call is in one table"
    assert found - listed == set(), "say by whose word it does so"
    assert listed - found == set(), "it no longer does so"


def test_only_what_asks_first_reads_a_path_of_a_plan() -> None:
    """An address in a plan becomes a path in one place, and that path is opened in one other."""
    readers = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"path_of", "read_plan_file", "plan_file_reader"}
    }
    assert readers == {
        "readmodel/followed_files",  # by the folders that were named here
        "relay/traffic",  # in the folder that the client named
        "session/authoring",  # in the folders of the session's own process
        "session/blocking",
        "session/tool_calls",
        "tools/plan_files",
    }
