"""What can be imported is what is said: adding a public name is a deliberate act."""

import importlib
import pkgutil
import subprocess
import sys
from importlib.resources import files
from types import ModuleType

import pytest

import planwire


def all_modules() -> list[str]:
    names = [module.name for module in pkgutil.walk_packages(planwire.__path__, "planwire.")]
    return ["planwire", *(name for name in names if name != "planwire.__main__")]


def public(module: ModuleType) -> list[str]:
    return [name for name in vars(module) if not name.startswith("_")]


@pytest.mark.parametrize("name", all_modules())
def test_all_is_sorted_and_can_be_imported(name: str) -> None:
    module = importlib.import_module(name)
    exported = module.__all__
    assert exported == sorted(exported, key=_isort_style), "sorted: constants, classes, functions"
    assert len(set(exported)) == len(exported)
    for each in exported:
        assert hasattr(module, each)


def test_what_the_package_shows_is_exactly_what_it_says() -> None:
    shown = {name for name in public(planwire) if not isinstance(getattr(planwire, name), ModuleType)}
    assert shown | set(planwire._HOMES) == set(planwire.__all__) - {"__version__"} - _shadowed_modules()


def test_what_is_imported_later_can_be_found_like_the_rest() -> None:
    assert dir(planwire) == sorted(planwire.__all__)
    with pytest.raises(AttributeError, match="no attribute 'PlanSessions'"):
        planwire.PlanSessions  # noqa: B018


def test_errors_need_no_import_of_their_own() -> None:
    code = "import planwire; planwire.errors.Conflict"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stderr == b""


def test_the_package_is_typed() -> None:
    assert (files("planwire") / "py.typed").is_file()


def _shadowed_modules() -> set[str]:
    return {name for name in planwire.__all__ if isinstance(getattr(planwire, name), ModuleType)}


def _isort_style(name: str) -> tuple[int, str]:
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name
