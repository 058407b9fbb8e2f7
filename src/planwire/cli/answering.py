"""What an act needs to know at the moment of writing: which of the agent's options a person means, and whether the
agent's turn may be cancelled. On a terminal the person is asked; otherwise an error names the argument to pass."""

from collections.abc import Sequence

from msgspec.structs import replace

from planwire.cli.input_output import agreed, chosen
from planwire.cli.steered_plan import SteeredPlan, write
from planwire.errors import ChoiceNeeded, InputError, InterruptNeeded, Refused
from planwire.journal import Journal
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.questions import AnswerOption
from planwire.session.steering import Steered
from planwire.steering.wanted import Wanted


def answering(journal: Journal, target: SteeredPlan, wanted: Wanted, by: str, *, asks: bool) -> Steered:
    """Write an act. `asks`: ask the person for what it lacks."""
    while True:
        try:
            return write(journal, target, wanted, by)
        except ChoiceNeeded as needed:
            options = target.card.question.options if target.card.question else ()
            wanted = replace(wanted, verdict=None, option=_option(needed, options, asks=asks))
        except InterruptNeeded as needed:
            if not asks:
                raise Refused("the agent is working: pass --interrupt to cancel its turn. Nothing was said") from None
            if not agreed(str(needed)):
                raise Refused("nothing was said") from None
            wanted = replace(wanted, interrupt=True)


def _option(needed: ChoiceNeeded, options: Sequence[AnswerOption], *, asks: bool) -> str:
    """The id of the option that a person chooses."""
    fit = [each for each in options if each.id in needed.options]
    if not asks or not fit:
        names = ", ".join(f"{each.id!r} ({one_line(each.name)})" for each in fit) or str(needed)
        raise InputError(f"choose an answer: pass --option with one of {names}. Nothing was sent")
    number = chosen("Your answer", [each.name for each in fit])
    if number is None:
        raise Refused("nothing was sent")
    return fit[number].id
