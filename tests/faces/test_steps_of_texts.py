"""A step of a text is a step on every face, whatever stands beside it."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from planwire.model.events import PlanSet
from planwire.model.plan import MarkdownPlan
from planwire.readmodel.card import StepRow
from planwire.readmodel.text_pieces import text_pieces
from planwire.web.prose import prose
from tests.readmodel.shown_plans import card_of

STEPS = [
    "1. a",
    "2) b",
    "10. j",
    "- [ ] t",
    "1. [x] u",
    "   - [ ] nested",
    "1. ### Setup",
    "- a | [ ] b",
    "> - [ ] quoted",
]
TRAPS = [
    "1. [ ]",
    "2.",
    "- [ ]",
    "1. > q",
    "1. ```",
    "```",
    "<div>",
    "<!--",
    "-->",
    "[r]: http://x",
    "1. [r]: http://x",
]
BLOCKS = [
    "",
    "text",
    "# Title",
    "===",
    "---",
    "  --- | ---",
    "- [ ] a | b",
    "- x",
    "   more",
    "    code",
    "1. b\n   --",
]
TEXTS = st.builds(
    "{}{}".format, st.sampled_from(["", "\ufeff"]), st.lists(st.sampled_from(STEPS + TRAPS + BLOCKS)).map("\n".join)
)
DEEP = "\n".join("  " * depth + "- x" for depth in range(40)) + "\n" + "  " * 40 + "- [ ] deep"


@given(TEXTS)
@example("1. a\n2. [ ]")
@example("1. ### Setup\n2. Run")
@example("1. a\n<div>\n2. b")
@example("\ufeff   - [ ] indented")
@example("- [ ] a | b\n  --- | ---\n- [ ] c")
@example(DEEP)
def test_the_board_and_the_terminal_draw_each_step_of_a_text_as_one(text: str) -> None:
    card = card_of("p", ("agent", PlanSet(MarkdownPlan("p", text))))
    steps = [row.id for row in card.rows]
    assert re.findall('data-step="([^"]+)"', prose(card, "p0")) == steps
    for whole in (True, False):
        assert [piece.id for piece in text_pieces(card, whole=whole) if isinstance(piece, StepRow)] == steps
