"""The documentation is run: every Python snippet with its output, every command and its help."""

import contextlib
import io
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from planwire import EVENT_SUBKINDS
from planwire.chat.roles import SUBKINDS
from planwire.cli import build_parser
from planwire.own_process import own_command
from scripts.make_docs import TABLES, printed, with_table

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets() -> list[object]:
    found: list[object] = []
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text())
        for number, (language, code) in enumerate(blocks):
            if language == "python":
                follows = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
                output = follows[1] if follows[0] == "output" else ""
                found.append(pytest.param(code, output, id=f"{page.name}-{number}"))
    return found


def commands() -> list[object]:
    return [
        pytest.param(*code.partition("\n")[::2], id=code.partition("\n")[0])
        for page in PAGES
        for language, code in BLOCK.findall(page.read_text())
        if language == "console"
    ]


@pytest.mark.parametrize(("code", "output"), snippets())
def test_snippets_print_what_the_page_says(code: str, output: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "snippet", "exec"), {})
    assert printed.getvalue() == output


@pytest.mark.parametrize(("command", "output"), commands())
def test_commands_print_what_the_page_says(command: str, output: str) -> None:
    assert printed(command.removeprefix("$ ")) == output, "the page is out of date: run `make docs`"


def written_commands() -> list[str]:
    """Commands that the pages tell to type, without the words on them: not run, for they need agents and sessions."""
    lines = [line for page in PAGES for line in re.findall(r"^    (planwire .*)$", page.read_text(), re.MULTILINE)]
    return sorted({re.split(r" {2,}|\s+#", line)[0] for line in lines})


@pytest.mark.parametrize("command", written_commands())
def test_commands_that_the_pages_tell_to_type_are_understood(command: str) -> None:
    build_parser().parse_args(shlex.split(command)[1:])


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text()
    [choices] = [action.choices for action in build_parser()._actions if action.choices]
    for name in choices:
        assert f"$ planwire {name} --help" in page


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text()
    return [code for name, code in BLOCK.findall(text) if name == language]


def test_the_mcp_settings_start_a_server(tmp_path: Path) -> None:
    [settings] = [json.loads(block) for block in blocks("mcp.md", "json")]
    [server] = settings["mcpServers"].values()
    assert server["command"] == "planwire"
    arguments = [str(tmp_path) if word == "/path/to/project" else word for word in server["args"]]
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "docs", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    result = subprocess.run(
        [*own_command(), *arguments],
        input=json.dumps(hello).encode() + b"\n",
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(result.stdout)["result"]["serverInfo"]["name"] == "planwire"


def test_the_check_in_ci_is_a_command_that_there_is() -> None:
    [workflow] = blocks("check.md", "yaml")
    [values] = re.findall(r"capability: \[(.*)\]", workflow)
    [command] = re.findall(r"- run: planwire (.*)", workflow)
    for value in values.split(", "):
        arguments = shlex.split(command.replace("${{ matrix.capability }}", value))
        assert build_parser().parse_args(arguments).capability == value


def test_links_between_pages_lead_somewhere() -> None:
    for page in (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", page.read_text()):
            target, _, heading = "".join(link).partition("#")
            if "://" not in target:
                linked = page.parent / target if target else page
                assert linked.exists(), f"{page.name} links to {target}"
                assert not heading or heading in headings(linked), f"{page.name} links to {target}#{heading}"


def headings(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in found}


def test_the_rules_that_code_and_tests_cite_are_those_in_the_table() -> None:
    cited = {
        rule
        for folder in ("src", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for rule in re.findall(r"\bR\d+\b", path.read_text())
    }
    _, _, table = (ROOT / "docs" / "wire.md").read_text().partition("## The rules that tests and reports cite")
    listed = [rule for row in re.findall(r"^\| (R[^|]*) \|", table, re.MULTILINE) for rule in row.split(", ")]
    assert sorted(listed) == sorted(cited)


def test_contributing_names_files_that_there_are_and_every_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    package = ROOT / "src" / "planwire"
    named = set(re.findall(r"`((?:\w+/)+\w+(?:\.\w+)?)/?`", text)) - {"planwire/peers", "tests/screenshots"}
    for name in named:
        places = [ROOT / name, package / name, package / f"{name}.py", package / "web" / name]
        assert any(place.exists() for place in places), name
    for folder in package.iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert f"`{folder.name}`" in text


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_those_of_the_code(name: str) -> None:
    page = TABLES[name][0].read_text()
    assert with_table(page, name) == page, f"{TABLES[name][0].name} is out of date: run `make docs`"


def test_the_subkinds_in_the_docs_are_the_eleven() -> None:
    """The table that says what a compaction does names each that `event` can make, and no other."""
    assert len(EVENT_SUBKINDS) == 11
    assert EVENT_SUBKINDS.keys() <= SUBKINDS.keys()
