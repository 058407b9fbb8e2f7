"""What a person wants: one act with its arguments, as the same value for every face.

Its JSON form is the body that the board posts: `{"act": "reword", "target": "s3", "seen": 17, "text": "Ship it"}`.
"""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from planwire.model.events import Comment, Passage
from planwire.model.names import id_number
from planwire.model.step_changes import StepChange

__all__ = ["ARGUMENTS", "Comment", "Passage", "Wanted", "is_remark", "remark_number"]

#: Bounds of one act. Every change of a text parses it again.
MOST_CHANGES: Final = 100
MOST_COMMENTS: Final = 200
MOST_STEPS: Final = 5_000

_Number: TypeAlias = Annotated[int, Meta(ge=0, lt=2**53)]


def remark_number(name: str) -> int:
    """The number of a remark: later ones have greater numbers. 0 if this is no remark's id."""
    return id_number("r", name)


def is_remark(target: str | None) -> bool:
    """Whether a target is the id of a remark."""
    return target is not None and remark_number(target) > 0


class Wanted(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An act of a person on a plan. The table of acts says which of the arguments each act needs and takes.

    - `target`: the id of a step (`s3`) or of a remark (`r3`); None for the plan as a whole.
    - `seen`: the revision that the person saw; None means the plan as it is at the moment of writing. `anyway`: it is
      meant for that moment, too, but what it says is about the words that they saw.
    - `after`: the step to place it after; "" is the beginning. `before`: the step to place it before. `by`: places to
      move down, or up if negative.
    - `comments`: words on single steps or passages that go with a review. `keep`: the words stay in force until a
      person ends them. `passage`: that of the plan's text which they are about.
    - `option`: the answer that a person chose, by its id or its name; `question`: the question that they saw.
    - `now`: the agent is to hear it now; `interrupt`: its turn may be cancelled for that.
    - `changes`: several changes at once. `plan_text`: the same, as the plan's text after a person edited it.
    - `edited`: the whole text of the plan that a person approves as they edited it.
    """

    act: str
    target: str | None = None
    seen: _Number | None = None
    anyway: bool = False
    text: str | None = None
    passage: Passage | None = None
    keep: bool | None = None
    status: str | None = None
    priority: str | None = None
    after: str | None = None
    before: str | None = None
    by: Annotated[int, Meta(ge=-(2**31), le=2**31)] | None = None
    verdict: str | None = None
    option: str | None = None
    question: str | None = None
    now: bool | None = None
    interrupt: bool | None = None
    steps: Annotated[tuple[str, ...], Meta(max_length=MOST_STEPS)] | None = None
    comments: Annotated[tuple[Comment, ...], Meta(max_length=MOST_COMMENTS)] | None = None
    changes: Annotated[tuple[StepChange, ...], Meta(max_length=MOST_CHANGES)] | None = None
    plan_text: str | None = None
    edited: str | None = None

    @property
    def is_on_remark(self) -> bool:
        """Whether its target is a remark."""
        return is_remark(self.target)

    @property
    def has_changes(self) -> bool:
        """Whether it has changes to steps, in either form."""
        return bool(self.changes) or self.plan_text is not None

    @property
    def named_steps(self) -> tuple[str, ...]:
        """The steps that the act names."""
        named = [
            self.target,
            self.after,
            self.before,
            *(self.steps or ()),
            *(each.step for each in self.comments or ()),
        ]
        return tuple(dict.fromkeys(step for step in named if step and not is_remark(step)))


#: The arguments that some acts take and others do not.
ARGUMENTS: Final = tuple(name for name in Wanted.__struct_fields__ if name not in ("act", "target", "seen", "anyway"))
