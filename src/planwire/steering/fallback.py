"""What can still be done of an act whose steps are gone, so that the words a person typed are not lost."""

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from planwire.steering.wanted import Wanted


class Instead(Struct, frozen=True):
    """Another act on the plan as it is at the moment of writing, and a few words for its button."""

    label: str
    wanted: Wanted


def fallback(wanted: Wanted, missing: Collection[str], revision: int) -> Instead | None:
    """What is left of an act if steps that it names are gone at a `revision`, which the person sees now; None if
    nothing is left, or no step is gone."""
    if not missing:
        return None
    if wanted.act == "reword" and wanted.text:
        return Instead("Add as a new step", Wanted("add", text=wanted.text))
    if wanted.act == "add" and wanted.after in missing:
        return Instead("Add at the end", replace(wanted, after=None, seen=revision, anyway=True))
    left = tuple(step for step in wanted.steps or () if step not in missing)
    if left:
        return Instead(
            f"Run the other {len(left)}" if len(left) > 1 else "Run the other one",
            replace(wanted, steps=left, seen=revision, anyway=True),
        )
    return None
