"""The table of acts as a script for browsers: keys, labels and needs of every act, and the statuses to offer.

It is a static file like any other, so pages stay small and browsers cache it. A new row in the table of acts or of
statuses reaches the board without a change to its scripts.
"""

import msgspec

from planwire.readmodel.card import FINISHED_LOOKS, offers_by_look
from planwire.steering.acts import ACTS, Act
from planwire.steering.reviews import VERDICT_LABELS


def act_table() -> str:
    """The source of the script."""
    values = {
        "ACTS": {act.name: _act(act) for act in ACTS.values()},
        "VERDICTS": VERDICT_LABELS,
        "OFFERS": offers_by_look(),
        "FINISHED": FINISHED_LOOKS,
    }
    constants = (f"export const {name} = {msgspec.json.encode(value).decode()};\n" for name, value in values.items())
    return f"// What people can do to a plan.\n\n{''.join(constants)}"


def _act(act: Act) -> dict[str, object]:
    gestures = [
        {
            "keys": each.keys,
            "label": each.label,
            "help": each.help,
            "given": each.arguments,
            "on": each.on or act.on,
            "main": each.main,
        }
        for each in act.gestures
    ]
    return {
        "label": act.label,
        "on": act.on,
        "target": act.needs_target,
        "suggested": act.on_suggested,
        "file": act.opens_file,
        "needs": act.needs,
        "gestures": gestures,
    }
