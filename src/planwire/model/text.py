"""Text put on one line and text cut short, to fit into a row, a list or a sentence."""

from typing import Final

#: Quotation marks within others.
_INNER: Final = str.maketrans("“”", "‘’")


def unwrapped(text: str) -> str:
    """The words of a text on one line, with single spaces between them."""
    return " ".join(text.split())


def shortened(text: str, most: int) -> str:
    """The text in at most `most` characters; an ellipsis stands for the rest."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def in_quotes(text: str) -> str:
    """The text as somebody else's within a sentence: it can't end its quotation marks and go on as that sentence."""
    return f"“{text.translate(_INNER)}”"


def newest(text: str, most: int) -> str:
    """The end of a text, in at most `most` bytes of UTF-8; an ellipsis stands for what came before."""
    data = text.encode(errors="replace")
    if len(data) <= most:
        return data.decode()
    return f"…{data[len(data) - most + len('…'.encode()) :].decode(errors='ignore').lstrip()}"
