"""A cheap estimate of tokens for budgets, without a tokenizer. It errs on the high side.

Tokenizers first cut a text into words, numbers and signs. A common word is one token, a number one per three digits,
and anything that looks random, such as a hash, falls into pieces of one or two characters. So what matters is how often
the kind of character changes. That is counted here on the bytes of the message as JSON, without the escapes of
quotation marks and line breaks, in a few passes without a loop.
"""

from typing import Final

import msgspec

from planwire.model.plan import Fields

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


def about_tokens(message: Fields) -> int:
    """The approximate number of tokens of a message."""
    kinds = msgspec.json.encode(message).replace(b'\\"', b'"').replace(b"\\n", b"\n").translate(_KINDS)
    count = kinds.count
    words, letters = count(b" a") + count(b".a") + count(b"0a"), count(b"a")
    if capitals := count(b"A"):
        words += count(b" A") + count(b".A") + count(b"0A") + count(b"aA") + count(b"AAa")
        letters += capitals
    signs, runs = count(b"."), count(b"a.") + count(b" .") + count(b"A.") + 1
    guess = words + max(0, letters - 5 * words) / 4 + runs + (signs - runs) / 4
    if digits := count(b"0"):
        spaced = count(b" 0")  # a word takes the space before it, a number does not
        numbers = spaced + count(b".0") + count(b"a0") + count(b"A0")
        guess += spaced + numbers + max(0, digits - 3 * numbers) / 3 + count(b"0.") * 3 / 4
    if others := count(b"x"):
        guess += count(b"e") / 2 + count(b"f") * 1.4 + others / 4
    return 1 + int(max(guess, len(kinds) / 5))
