"""A guess of tokens that needs no tokenizer, for budgets: cheap, and rather high than low.

Tokenizers first cut a text into words, numbers and signs. A common word is one token, a number one for three digits,
and whatever looks random, such as a hash, falls into pieces of one or two characters. So what matters is how often the
kind of character changes: that is counted here on the bytes of the message as JSON, in a few passes without a loop.
"""

from typing import Final

import msgspec

from planwire.model.plan import Fields

__all__ = ["about_tokens"]


#: Kinds of characters, by their bytes: letters, digits, spaces, symbols of three bytes, emoji of four. Every other byte
#: of UTF-8 is an `x`, and every other sign a full stop.
_MEMBERS: Final = {
    b"a": b"abcdefghijklmnopqrstuvwxyz",
    b"A": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0": b"0123456789",
    b" ": b" ",
    b"e": b"\xe2",
    b"f": b"\xf0\xf1\xf2\xf3\xf4",
}
_KIND: Final = {byte: kind for kind, members in _MEMBERS.items() for byte in members}
_KINDS: Final = b"".join(_KIND.get(byte, b"." if byte < 128 else b"x") for byte in range(256))


def _only(kinds: bytes) -> bytes:
    """A table that leaves these kinds and makes spaces of all others, so that `split` finds their runs."""
    return bytes(byte if byte in kinds else 32 for byte in range(256))


_LETTERS, _DIGITS, _SIGNS = _only(b"aA"), _only(b"0"), _only(b".")


def about_tokens(message: Fields) -> int:
    """About how many tokens a message takes."""
    data = msgspec.json.encode(message).replace(b"\\n", b"\n")
    kinds = data.translate(_KINDS)
    count = kinds.count
    letters, words = count(b"a") + count(b"A"), len(kinds.translate(_LETTERS).split()) + count(b"aA") + count(b"AAa")
    digits, numbers = count(b"0"), len(kinds.translate(_DIGITS).split())
    signs, runs = count(b"."), len(kinds.translate(_SIGNS).split())
    guess = (
        words
        + max(0, letters - 5 * words) / 4
        + numbers
        + max(0, digits - 3 * numbers) / 3
        + count(b" 0")  # a word takes the space before it, a number does not
        + runs
        + (signs - runs) / 4
        + count(b"e") / 2
        + count(b"f") * 1.4
        + count(b"x") / 4
    )
    return 1 + int(max(guess, len(data) / 5))
