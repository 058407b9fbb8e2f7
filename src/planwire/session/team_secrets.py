"""The secrets of a team: tokens, the secrets of browsers, and pairing codes. Only digests of them are ever stored.

Tokens and browsers' secrets have 256 random bits. They can't be guessed, so one round of SHA-256 protects them as well
as a slow function would, and every request pays for it. One salt serves the whole file: all secrets differ, so one salt
for each would add nothing. A pairing code is short, for people to type: its digest is slow (scrypt), and it lives for
ten minutes.
"""

import hmac
import secrets
from hashlib import scrypt, sha256
from typing import Final

#: No vowels, so that no code is a word, and no letters that look alike.
_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
_GROUP: Final = 4


def new_salt() -> str:
    return secrets.token_hex(16)


def new_id() -> str:
    """A name by which people tell browsers and tokens apart."""
    return secrets.token_hex(3)


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def new_code() -> str:
    """Eight letters in two groups."""
    letters = "".join(secrets.choice(_LETTERS) for _ in range(2 * _GROUP))
    return f"{letters[:_GROUP]}-{letters[_GROUP:]}"


def secret_digest(salt: str, secret: str) -> str:
    return sha256(f"{salt} {secret}".encode("utf-8", "surrogateescape")).hexdigest()


def code_digest(salt: str, code: str) -> str:
    """The digest of a code as a person typed it: perhaps in small letters, with spaces, or without the dash."""
    letters = "".join(each for each in code.upper() if each in _LETTERS)
    return scrypt(letters.encode(), salt=salt.encode(), n=2**14, r=8, p=1).hex()


def same_digest(one: str, other: str) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())
