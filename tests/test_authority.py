"""What comes out of a journal, a wire or a repository is no authority over this machine.

Each file of planwire's that opens a file, starts a process or makes a connection is in a table here, by whose word it
does so. The last group takes words from elsewhere, and says what is asked of them first.
"""

import ast
from pathlib import Path
from typing import Final

import planwire

ROOT = Path(planwire.__file__).parent
#: Calls that reach a file, a process or a server.
REACHING: Final = {"Popen", "connect", "create_connection", "execve", "mmap", "open", "read_bytes", "read_text"}
#: Methods of planwire's own that are named like these, and reach nothing themselves.
OWN: Final = {
    "PlanSession.open",
    "engine.open",
    "self._relayed.open",
    "self._stream.open",
    "self._tools.open",
    "relayed.open",
}

#: Planwire's own files: in the user's data, beside the journal, or in a folder that planwire made.
OURS: Final = """
    cli/file_swap cli/plugin_folder cli/settings_write cli/terminal_setup cli/terminal_undo demo/agent
    hooks/answer_files hooks/hooked_sessions hooks/own_calls hooks/thin_hook journal/away/folder
    journal/away/last_known journal/away/outage journal/backup journal/drainer_lock journal/lock_files
    journal/restoring journal/spool journal/spool_append journal/sqlite/drafts journal/sqlite/file
    journal/sqlite/guard journal/sqlite/journal journal/sqlite/mixture journal/sqlite/unwritable journal/thoughts_file
    relay/learned_agents session/handoff session/known_agents session/named_folders session/recording_mark
    session/users_file web/frame
"""
#: Paths, commands and servers that a person named: on a command line, in settings, in the environment.
PERSONS: Final = """
    cli/agent_client cli/agent_commands cli/board cli/board_process cli/checked_agent cli/codex_trust cli/health
    cli/hook_trial cli/input_output cli/journal_secrets cli/journal_verify cli/opencode_settings cli/pager
    cli/terminal_checks cli/trial_agent cli/trial_server cli/trying hooks/transcript_files journal/jetstream/dialing
    journal/jetstream/logins journal/jetstream/settings journal/jetstream/transport
    journal/postgres/line journal/postgres/notices journal/postgres/server journal/private_urls relay/process
    session/editor web/listening web/tls_files
"""
#: Fixed places of the system.
SYSTEMS: Final = ["cli/__init__", "journal/machines", "journal/processes", "relay/pipe"]
#: Words from a wire, a hook, a journal or a repository, and what is asked of them first.
ELSEWHERE: Final = {
    "hooks/claude_refusal": "the transcript that an agent's hook names: a regular file, searched for a refusal",
    "hooks/looking": "the same, and only a regular file: steps and plans that the agent has in it",
    "hooks/opencode_database": "a database that the agent's hook names: a regular file, opened to be read",
    "hooks/todo_database": "a database that the agent's hook names: a regular file, opened to be read",
    "relay/server_files": "settings in the folder that a client names: searched for names, never shown; no pipes",
    "session/origin": "Git's files above the folder that a session names: regular ones, of which one address is kept",
    "tools/plan_files": "a plan file: markdown inside folders that were named here, without links, `/` and homes",
}


def reaching(path: Path) -> set[str]:
    """The calls of a file that reach a file, a process or a server."""
    calls = {node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
    names = {ast.unparse(each) for each in calls}
    return {each for each in names if each.rpartition(".")[2] in REACHING or each == "subprocess.run"} - OWN


def test_every_file_that_reaches_the_machine_says_by_whose_word() -> None:
    found = {path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.py") if reaching(path)}
    listed = [*OURS.split(), *PERSONS.split(), *SYSTEMS, *ELSEWHERE]
    assert len(set(listed)) == len(listed)
    assert found - set(listed) == set(), "say by whose word it does so"
    assert set(listed) - found == set(), "it no longer does so"


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
