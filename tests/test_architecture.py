"""The rings of CONTRIBUTING.md: who may import whom, and which files do no I/O. Both are declared here, by file."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import planwire
from planwire.model.kinds import KINDS
from planwire.model.statuses import STATUSES

ROOT = Path(planwire.__file__).parent

#: From the inside out. A package imports its own ring and those inside it.
RINGS: Final = (
    {"errors", "extras", "model", "own_process"},
    {"acp", "chat", "check", "steering", "tools"},
    {"journal", "readmodel", "session"},
    {"adapters", "hooks", "relay"},
    {"cli", "demo", "mcp", "terminal", "web", "__init__", "__main__"},
)
#: The only folders inside a package: an engine is a file or a folder.
ENGINES: Final = {"journal/away", "journal/jetstream", "journal/postgres", "journal/sqlite"}
#: The files with effects: sockets, files, clocks, randomness, threads, event loops. Every other file is pure.
EFFECTFUL: Final = {
    "__init__": "all",
    "__main__": "all",
    "adapters": "all",
    "chat": {"__init__"},
    "cli": "all",
    "demo": "all",
    "extras": "all",
    "own_process": "all",
    "hooks": {
        "answer_files",
        "claude_refusal",
        "command_line",
        "drain_thread",
        "drained",
        "draining",
        "entry",
        "hang_ups",
        "hook_command",
        "hooked_sessions",
        "importing",
        "looking",
        "own_calls",
        "reviewing",
        "thin_hook",
        "opencode_database",
        "todo_database",
        "transcript_files",
    },
    "mcp": "all",
    "terminal": "all",
    "web": "all",
    "journal": {
        "__init__",
        "backup",
        "bell",
        "forks",
        "restoring",
        "drainer_lock",
        "engines",
        "folder_times",
        "follower",
        "group_commit",
        "held_lease",
        "hook_folders",
        "lock_files",
        "machines",
        "memory",
        "polling",
        "private_urls",
        "processes",
        "spool",
        "spool_append",
        "thoughts",
        "thoughts_file",
        "user_files",
    },
    "journal/away": {
        "delivery",
        "journal",
        "known_here",
        "last_known",
        "leases",
        "outage",
        "server",
    },
    "journal/jetstream": {
        "api",
        "append",
        "buckets",
        "client",
        "dialing",
        "follow",
        "inbox",
        "journal",
        "leases",
        "logins",
        "parts",
        "sessions",
        "settings",
        "snapshots",
        "stream",
        "transport",
        "wire",
    },
    "journal/postgres": "all",
    "journal/sqlite": "all",
    "readmodel": {"away_words", "folders", "followed_files", "inbox", "rationale", "sessions", "timeline"},
    "relay": {
        "backlog",
        "handoffs",
        "held_sessions",
        "injector",
        "looker",
        "pipe",
        "process",
        "journalled",
        "learned_agents",
        "recorder",
        "run",
        "server_files",
        "successor",
        "traffic",
    },
    "session": {
        "authoring",
        "blocking",
        "blocking_connection",
        "briefing",
        "chat_compactor",
        "chat_export",
        "chat_import",
        "file_plans",
        "chat_messages",
        "child_plan",
        "delivery",
        "editor",
        "following",
        "forks",
        "handoff",
        "agent_environment",
        "known_agents",
        "lapses",
        "live_history",
        "loop_listener",
        "moved_on",
        "named_folders",
        "old_notes",
        "options",
        "origin",
        "peer_connection",
        "pending_reviews",
        "plan_session",
        "plans",
        "pool",
        "recording_mark",
        "steering",
        "team_secrets",
        "tool_calls",
        "users_file",
        "writer",
    },
    "tools": {"plan_files"},
}
#: What a pure file may import from outside planwire.
PURE: Final = {
    "_sha2",
    "_sha256",
    "base64",
    "bisect",
    "collections",
    "contextlib",
    "difflib",
    "enum",
    "fnmatch",
    "functools",
    "itertools",
    "json",
    "markdown_it",
    "math",
    "msgspec",
    "operator",
    "re",
    "textwrap",
    "types",
    "typing",
    "unicodedata",
    "xml",
    "hashlib",
    "zlib",
}
#: Built-ins by which a file would have effects without importing anything.
EFFECTS: Final = {"__import__", "breakpoint", "eval", "exec", "input", "open", "print"}
#: What importing planwire must not load.
LATE: Final = {
    "acp",
    "argparse",
    "asyncio",
    "difflib",
    "enum",
    "json",
    "markdown_it",
    "mcp",
    "pydantic",
    "rich",
    "sqlite3",
    "starlette",
    "textual",
    "uvicorn",
}


#: Stands for a module whose name nobody can read in the file that imports it.
UNKNOWN: Final = "?"


def files() -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def folder_of(path: Path) -> str:
    """The folder that a file's purity is declared by; a file in none is its own."""
    return path.parent.as_posix() if len(path.parts) > 1 else path.stem


def is_pure(path: Path) -> bool:
    effectful = EFFECTFUL.get(folder_of(path), set())
    return effectful != "all" and path.stem not in effectful


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax of a file, which many tests look at."""
    return ast.parse(path.read_text())


@pytest.fixture(scope="module", autouse=True)
def no_trees_left() -> Iterator[None]:
    """All of them are 100 MB."""
    yield
    tree_of.cache_clear()


def imports(path: Path, *, typing_too: bool = True) -> Iterator[str]:
    """The modules that a file imports, wherever in it and however; without those that only the type checker sees, if
    asked."""
    tree = tree_of(ROOT / path)
    skipped: set[ast.AST] = set()
    if not typing_too:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                skipped.update(inner for each in node.body for inner in ast.walk(each))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            if ast.unparse(node).startswith("planwire."):  # in reach as soon as anyone has imported it
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield _named_at_run_time(node.args[0])


def _named_at_run_time(module: ast.expr) -> str:
    """The module that a call imports, as far as its name is written there."""
    parts = module.values if isinstance(module, ast.JoinedStr) else [module]
    known = parts[0].value if parts and isinstance(parts[0], ast.Constant) else UNKNOWN
    return str(known).rstrip(".")


def file_of(module: str) -> Path | None:
    """The file of one of planwire's modules; None if the name is something else, such as a class in a module."""
    path = Path(*module.split(".")[1:])
    if (ROOT / path).is_dir():
        return path / "__init__.py"
    return path.with_suffix(".py") if path.name and (ROOT / path.with_suffix(".py")).exists() else None


def ring_of(path: Path) -> int:
    return next(number for number, ring in enumerate(RINGS) if part_of(path) in ring)


def broken_purity(path: Path) -> set[str]:
    """What a pure file imports or calls that it may not."""
    found = set()
    for name in imports(path, typing_too=False):
        if name.partition(".")[0] != "planwire":
            if name.partition(".")[0] not in PURE:
                found.add(name)
        elif name != "planwire" and (inner := file_of(name)) and not is_pure(inner):
            found.add(name)
    for node in ast.walk(tree_of(ROOT / path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in EFFECTS:
            found.add(node.func.id)
    return found


def test_every_module_lives_in_a_package_with_a_ring() -> None:
    assert {path.name for path in files() if len(path.parts) == 1} == {
        "__init__.py",
        "__main__.py",
        "errors.py",
        "extras.py",
        "own_process.py",
    }
    assert {part_of(path) for path in files()} <= {name for ring in RINGS for name in ring}


def test_one_file_spells_how_planwire_starts_itself() -> None:
    """A `-m` elsewhere would take modules from the folder that the process stands in."""
    for path in files():
        if path != Path("own_process.py"):
            text = (ROOT / path).read_text()
            assert "sys.executable" not in text, path
            words = {node.value for node in ast.walk(tree_of(ROOT / path)) if isinstance(node, ast.Constant)}
            assert not words & {"-m", "-P", "-I"}, path


def test_every_file_that_is_declared_effectful_exists() -> None:
    declared = {(folder, stem) for folder, stems in EFFECTFUL.items() if stems != "all" for stem in stems}
    assert declared <= {(folder_of(path), path.stem) for path in files()}


def test_files_import_only_from_their_own_ring_and_those_inside_it() -> None:
    own = ((path, name) for path in files() for name in imports(path) if name.startswith("planwire."))
    found = ((path, name, inner) for path, name in own if (inner := file_of(name)))
    assert [f"{path} imports {name}" for path, name, inner in found if ring_of(inner) > ring_of(path)] == []


def test_pure_files_have_no_effects_and_import_none() -> None:
    pure = [path for path in files() if is_pure(path)]
    assert {path: broken for path in pure if (broken := broken_purity(path))} == {}


#: The faces, and what each may import besides itself: the core decides, faces draw.
FACES: Final = {"cli", "mcp", "terminal", "web"}
DRAWN: Final = {"errors", "extras", "own_process", "readmodel", "session", "steering"}
#: All that a face may know of the whole: the public names are those of the core.
ROOT_NAMES: Final = {"planwire.__version__"}
#: All that a face may know of journals.
JOURNAL_NAMES: Final = {"planwire.journal", "planwire.journal.Journal", "planwire.journal.open_journal"}
#: The packages that a face or a command starts or prints, by package or file.
FRONTED: Final = {
    "cli": {"hooks", "terminal"},
    "mcp": {"hooks", "tools"},
    "cli/acting_person": {"journal"},
    "cli/agent_client": {"acp", "relay"},
    "cli/board": {"journal", "web"},
    "cli/check": {"acp", "check"},
    "cli/checked_agent": {"check"},
    "cli/compact": {"chat"},
    "cli/context": {"chat"},
    "cli/deciding": {"acp", "check"},
    "cli/demo": {"demo"},
    "cli/driving": {"acp", "check"},
    "cli/export": {"acp", "journal"},
    "cli/health": {"journal"},
    "cli/import_": {"chat", "journal"},
    "cli/import_transcripts": {"hooks"},
    "cli/journal_copies": {"journal"},
    "cli/journal_verify": {"journal"},
    "cli/journal_secrets": {"journal"},
    "cli/learning": {"acp", "check", "relay"},
    "cli/mcp": {"mcp"},
    "cli/open_modes": {"journal"},
    "cli/plugin_folder": {"journal"},
    "cli/relay": {"relay"},
    "cli/replay": {"acp"},
    "cli/scripted_home": {"check"},
    "cli/scripted_model": {"check"},
    "cli/setup": {"journal", "relay"},
    "cli/streams": {"chat"},
    "cli/team_options": {"web"},
    "cli/terminal_checks": {"journal"},
    "cli/tools": {"tools"},
    "cli/translate": {"acp"},
    "cli/trial_server": {"check"},
    "cli/trial_agent": {"acp", "check"},
    "cli/trying": {"acp", "check", "relay"},
    "cli/verdict_text": {"check"},
}


def broken_law(path: Path) -> set[str]:
    """What a face imports that it may not: the rules are in the core, once."""
    face = part_of(path)
    allowed = DRAWN | {face} | FRONTED.get(face, set()) | FRONTED.get(str(path.with_suffix("")), set())
    found = set()
    for name in imports(path):
        part = name.split(".")[1] if name.startswith("planwire.") else ""
        if name == UNKNOWN or (part and part not in allowed and name not in JOURNAL_NAMES | ROOT_NAMES):
            found.add(name)
    return found


def test_faces_draw_and_the_core_decides() -> None:
    faces = [path for path in files() if part_of(path) in FACES]
    assert {path: broken for path in faces if (broken := broken_law(path))} == {}


def test_agents_have_no_acts_of_people() -> None:
    named = {name for path in files() if part_of(path) in ("mcp", "tools") for name in imports(path)}
    assert not any(name.startswith(("planwire.steering", "planwire.session.steering")) for name in named)


@pytest.mark.parametrize("where", FRONTED)
def test_a_face_may_import_nothing_that_it_does_not_use(where: str) -> None:
    paths = [path for path in files() if where in (part_of(path), str(path.with_suffix("")))]
    names = {name for path in paths for name in imports(path)} - JOURNAL_NAMES
    assert FRONTED[where] <= {name.split(".")[1] for name in names if name.startswith("planwire.")}


def test_no_face_imports_the_model() -> None:
    assert "model" not in DRAWN | {part for parts in FRONTED.values() for part in parts}


@pytest.mark.parametrize("face", ["cli/show.py", "mcp/server.py", "terminal/rows.py", "web/app.py"])
@pytest.mark.parametrize(
    "line",
    [
        "import planwire.model",
        "import planwire.model.plan as plans",
        "from planwire import model",
        "from planwire import ItemsPlan",
        "from planwire import *",
        "from planwire.model.plan import *",
        "def f(): from planwire.model.plan import Entry",
        "if TYPE_CHECKING: from planwire.model.plan import Entry",
        "import planwire.readmodel; planwire.model.plan.Entry",
        "import planwire; planwire.ItemsPlan",
        "import planwire.journal; planwire.journal.codec",
        "import importlib; importlib.import_module('planwire.model.plan')",
        "from importlib import import_module; import_module(f'planwire.model.{part}')",
        "import_module(name)",
        "__import__('planwire.model')",
    ],
)
def test_no_way_of_importing_the_core_into_a_face_goes_unnoticed(
    face: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(face)
    assert broken_law(path) == set()
    (tmp_path / path.parent).mkdir()
    (tmp_path / path).write_text(f"{(ROOT / path).read_text()}\n{line}\n")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert broken_law(path) != set()


@pytest.mark.parametrize("module", ["random", "socket", "time"])
def test_an_import_with_effects_in_the_policy_of_the_relay_is_noticed(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Path("relay/policy.py")
    (tmp_path / "relay").mkdir()
    (tmp_path / policy).write_text(f"import {module}\n{(ROOT / policy).read_text()}")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert is_pure(policy)
    assert broken_purity(policy) == {module}


def test_importing_planwire_imports_no_heavy_package() -> None:
    code = "import sys; from planwire import Board; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, msgspec; print(*{name.split('.')[0] for name in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert LATE.isdisjoint(set(loaded) - set(bare))


def test_no_file_is_a_bucket_and_none_lies_deep() -> None:
    assert not [path for path in files() if path.stem in {"utils", "helpers", "common", "misc", "shared"}]
    assert not [path for path in files() if len(path.parts) > 2 and path.parent.as_posix() not in ENGINES]


def test_functions_are_short() -> None:
    functions = (
        (path, node)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    long = [
        f"{path}:{node.lineno} {node.name}" for path, node in functions if (node.end_lineno or 0) - node.lineno >= 60
    ]
    assert long == []


def trees(*, outside_model: bool = False) -> Iterator[tuple[Path, ast.Module]]:
    for path in files():
        if not (outside_model and part_of(path) == "model"):
            yield path, tree_of(ROOT / path)


def names_a_status(tree: ast.Module) -> bool:
    constants = {status.upper() for status in STATUSES}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(word)) if word in STATUSES:
                return True
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if name in constants:
                return True
    return False


def test_statuses_are_named_in_few_files_outside_the_model() -> None:
    """Words of other wire messages have names of their own in `acp/words`."""
    naming = [path for path, tree in trees(outside_model=True) if names_a_status(tree) and path != Path("acp/words.py")]
    quoted = re.compile("|".join(f"[\"'`]{status}[\"'`]" for status in STATUSES))
    naming += [path for path in ROOT.rglob("*.js") if quoted.search(path.read_text())]
    assert len(naming) <= 10, naming


def tells_kinds_apart(tree: ast.Module) -> bool:
    kinds = {kind.__name__ for kind in KINDS}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, of]):
                if kinds & set(re.findall(r"\w+", ast.unparse(of))):
                    return True
            case ast.MatchClass(cls=ast.Name(id=name)) if name in kinds:
                return True
            case ast.Compare(left=ast.Attribute(attr="kind"), comparators=[ast.Constant(value=str(word))]):
                if word in {row.name for row in KINDS.values()}:
                    return True
    return False


def test_kinds_of_plans_are_told_apart_in_few_files_outside_the_model() -> None:
    testing = [path for path, tree in trees(outside_model=True) if tells_kinds_apart(tree)]
    assert len(testing) <= 12, testing


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, list[Path]] = {}
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.strip("_"), []).append(path)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_own_inheritance_is_at_most_two_deep() -> None:
    """A class may extend one of ours, which then extends none of ours. Errors are a tree of their own."""
    bases: dict[str, list[str]] = {}
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and path != Path("errors.py"):
                bases[node.name] = [ast.unparse(base).partition("[")[0] for base in node.bases]

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in bases[name] if base in bases), default=0)

    assert {name: depth(name) for name in bases if depth(name) > 2} == {}
