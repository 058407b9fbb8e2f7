"""What can be imported is what is said: adding a public name is a deliberate act."""

import importlib
import pkgutil
import subprocess
import sys
from importlib.resources import files
from types import ModuleType

import pytest

import planwire


def public(module: ModuleType) -> list[str]:
    return [name for name in vars(module) if not name.startswith("_")]


def test_every_module_can_be_imported_and_says_which_names_of_others_it_passes_on() -> None:
    """A name with an underscore is its module's own, and any other is for all. `__all__` is for a package's front, and
    for a module that passes on names from elsewhere."""
    for found in pkgutil.walk_packages(planwire.__path__, "planwire."):
        if found.name == "planwire.__main__":
            continue
        module = importlib.import_module(found.name)
        exported = getattr(module, "__all__", [])
        assert exported == sorted(exported, key=_isort_style), f"{found.name}: sorted: constants, classes, functions"
        assert len(set(exported)) == len(exported), found.name
        assert all(hasattr(module, each) for each in exported), found.name
    assert planwire.__all__ == sorted(planwire.__all__, key=_isort_style)


def test_what_the_package_shows_is_exactly_what_it_says() -> None:
    shown = {name for name in public(planwire) if not isinstance(getattr(planwire, name), ModuleType)}
    assert (
        shown | set(planwire._HOMES) | set(planwire._ALIASES)
        == set(planwire.__all__) - {"__version__"} - _shadowed_modules()
    )


def test_what_is_imported_later_can_be_found_like_the_rest() -> None:
    assert dir(planwire) == sorted(planwire.__all__)
    with pytest.raises(AttributeError, match="no attribute 'PlanSessions'"):
        planwire.PlanSessions  # noqa: B018


#: Words of the proposals and pages that planwire follows: their reader finds each in `from planwire import …`.
WORDS = {
    "plan operations": ("PlanEntry", "PlanUpdate", "ItemsPlan", "MarkdownPlan", "FilePlan", "Removal", "Fallback"),
    "hidden roles": ("ChatStream", "PlanMessage", "EventMessage", "EVENT_SUBKINDS", "read_stream", "write_stream"),
    "compression": ("NEVER", "DROP_ON_AGE", "KEEP_RECENT_N", "PRESERVE_WINDOW", "PRESERVE_ANCHOR", "class_of"),
    "compaction": ("compact", "Compaction", "about_tokens"),
    "tools and caps": ("tool_schemas", "Answer", "BODY_CAP", "DELTA_CAP"),
    "life": ("PlanSet", "PlanChanged", "PlanRemoved", "Plans", "PlanSession", "SessionChange"),
}


@pytest.mark.parametrize("name", [name for names in WORDS.values() for name in names])
def test_the_words_of_the_field_are_found_at_the_top(name: str) -> None:
    assert name in planwire.__all__
    assert getattr(planwire, name) is not None


def test_two_names_of_the_protocol_mean_ours() -> None:
    assert planwire.PlanEntry is planwire.Entry
    assert planwire.PlanUpdate is planwire.Update


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
