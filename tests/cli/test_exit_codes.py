"""Exit codes: what a script can tell from them."""

import inspect
import re
from pathlib import Path

from planwire import errors
from planwire.cli.exit_codes import DAMAGED, DONE, NOT_DONE, NOT_FOUND, USAGE, exit_code
from planwire.errors import PlanwireError
from planwire.session.moved_on import MovedOn

#: Every error that stands for something other than a refusal.
CODES = (DONE, NOT_DONE, USAGE, NOT_FOUND, DAMAGED)
EXPECTED = {
    NOT_FOUND: {"NoJournal", "NotFound", "UnknownPlan", "UnknownStep", "UnknownRemark"},
    USAGE: {
        *(
            "BadMessage",
            "BadStream",
            "NoStream",
            "CannotCarry",
            "ChatError",
            "ChoiceNeeded",
            "DialectError",
            "EmptyText",
            "FormatError",
        ),
        *("FormatError", "InputError", "NotAJournal", "UnknownDialect", "UnknownJournal", "UnknownWord"),
    },
}


def made(kind: type[PlanwireError]) -> PlanwireError:
    """An error of a class, whatever its constructor wants."""
    return kind.__new__(kind)


def test_every_error_has_its_code() -> None:
    kinds: dict[str, type[PlanwireError]] = {
        name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, PlanwireError)
    }
    found = {name: exit_code(made(kind)) for name, kind in kinds.items()}
    assert {*found.values()} == {NOT_DONE, USAGE, NOT_FOUND}
    for code, names in EXPECTED.items():
        assert {name for name, of in found.items() if of == code} == names
    assert found["StaleRevision"] == found["Conflict"] == exit_code(made(MovedOn)) == NOT_DONE


def test_the_codes_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    assert re.findall(r"^\| (\d) \|", page, re.MULTILINE) == [str(code) for code in CODES]


def test_the_codes_never_change() -> None:
    assert CODES == (0, 1, 2, 3, 4)
