"""Authors as people read them."""

from planwire.model.records import USER
from planwire.readmodel.plain_text import one_line

__all__ = ["author"]


def author(by: str) -> str:
    """The name to show for an author. A person without a name is the reader: nobody else steers here."""
    return "you" if by == USER else one_line(by)
