"""Packages behind extras: one that is too old is named as that, and not as missing."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from planwire.extras import PACKAGES, missing_extra, need_of

ROOT = Path(__file__).parent.parent


def test_the_versions_are_those_that_pip_is_told() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name != "dev"}
    told = {
        re.sub(r"(\[.*\])?>=.*", "", need): (name, need.partition(">=")[2])
        for name, needs in extras.items()
        for need in needs
    }
    assert told == {each.distribution: (each.extra, each.oldest) for each in PACKAGES.values()}


@pytest.mark.parametrize("found", ["1.10.1", "1.99", "0.9.1"])
def test_an_older_version_is_named(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: found)
    need = need_of("mcp")
    assert need is not None
    assert need.startswith(f"needs the MCP SDK 2.0 or newer, and {found} is installed: pip install")


@pytest.mark.parametrize("found", ["2.0rc1", "2", "10.0", "2.3.0"])
def test_versions_are_compared_by_their_numbers(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: found)
    assert need_of("mcp") is None


def test_a_package_that_is_there_and_fails_is_not_called_missing() -> None:
    error = ImportError("cannot import name 'x' from 'mcp'", name="mcp.server")
    assert str(missing_extra("the server", "mcp", error)) == (
        "the server needs the MCP SDK, which can't be imported (cannot import name 'x' from 'mcp'): "
        "pip install 'planwire[mcp]'"
    )


@pytest.mark.parametrize(
    ("found", "need"),
    [
        ("1.10.1", " 2.0 or newer, and 1.10.1 is installed: "),
        ("2.0", ", which can't be imported (No module named 'mcp.x'): "),
    ],
)
def test_a_package_without_one_of_its_modules_is_not_called_missing(
    found: str, need: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "version", lambda _: found)
    error = ModuleNotFoundError("No module named 'mcp.x'", name="mcp.x")
    said = str(missing_extra("the server", "mcp", error))
    assert said.startswith(f"the server needs the MCP SDK{need}pip install 'planwire[mcp]'")


def test_one_of_several_packages_is_named_by_its_own_name() -> None:
    error = ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
    assert str(missing_extra("the board", "starlette", error)) == (
        "the board needs uvicorn: pip install 'planwire[web]'"
    )


def test_the_server_names_an_sdk_that_is_too_old(tmp_path: Path) -> None:
    """As frameworks pin it: `mcp` can be imported, and has little of what the server needs."""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").touch()
    papers = tmp_path / "mcp-1.10.1.dist-info"
    papers.mkdir()
    (papers / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp\nVersion: 1.10.1\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from planwire.cli import main; sys.exit(main(['mcp']))"
    result = subprocess.run([sys.executable, "-c", code], input=b"", capture_output=True, check=False)
    assert result.stderr.decode() == (
        "planwire: the MCP server needs the MCP SDK 2.0 or newer, and 1.10.1 is installed: "
        "pip install 'planwire[mcp]', or uv tool install 'planwire[mcp]' if another package here needs the old one\n"
    )
    assert result.returncode == 1
