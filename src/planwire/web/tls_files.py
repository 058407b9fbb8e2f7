"""The files of a board's certificate and key: whether they can be used, and if not, which of the two is wrong."""

import re
import ssl
from pathlib import Path
from typing import Final

from planwire.errors import InputError, reason

#: The certificate with its chain, and its key.
TlsFiles = tuple[str, str]

_CERTIFICATE: Final = re.compile(rb"-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----")
_KEY: Final = re.compile(rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")
_PASSPHRASE: Final = re.compile(rb"-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED", re.M)
#: OpenSSL's reasons for a key that belongs to another certificate, of the same kind or of another.
_MISMATCH: Final = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED")


def check_tls(files: TlsFiles) -> None:
    """Raise `InputError` if a certificate or its key can't be used, before the board prints its address."""
    _check_contents(files)
    certificate, key = files
    try:
        _context().load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:
        if getattr(error, "reason", None) in _MISMATCH:
            raise InputError(
                f"the key in {key} is not that of the certificate in {certificate}: pass the two that were made "
                "together; in a file with a chain, the board's own certificate comes first"
            ) from None
        raise InputError(_damaged(certificate, key, error)) from None


def _check_contents(files: TlsFiles) -> None:
    """Check that each file holds what it should, by its PEM headers."""
    certificate, key = files
    first, second = (_content(path, option) for path, option in zip(files, ("--tls-cert", "--tls-key"), strict=True))
    if _KEY.search(first) and _CERTIFICATE.search(second) and not (_CERTIFICATE.search(first) or _KEY.search(second)):
        raise InputError(
            f"{certificate} is a key, and {key} a certificate: they are swapped. Pass --tls-cert {key} and --tls-key "
            f"{certificate}"
        )
    if not _CERTIFICATE.search(first):
        raise InputError(f"{certificate} holds no certificate in PEM format, which --tls-cert takes, with its chain")
    if not _KEY.search(second):
        raise InputError(f"{key} holds no private key in PEM format, which --tls-key takes")
    if _PASSPHRASE.search(second):
        raise InputError(
            f"the key in {key} has a passphrase, and a board has nobody to ask for it: pass a file without one, which "
            f"openssl pkey -in {key} -out FILE makes"
        )


def _content(path: str, option: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise InputError(f"{path} can't be read ({why}): {option} takes a file in PEM format") from None


def _damaged(certificate: str, key: str, error: Exception) -> str:
    """Say which of two files is damaged, though both have the right headers. A certificate can be read without its
    key."""
    try:
        _context().load_verify_locations(certificate)
    except (OSError, ValueError):
        return f"the certificate in {certificate} is damaged: pass one in PEM format, with its chain"
    said = str(getattr(error, "reason", None) or "").replace("_", " ").lower()
    if "too small" in said or "too weak" in said:
        return f"the certificate in {certificate} can't be used ({said}): have a stronger one made"
    return f"the key in {key} is damaged: pass the private key of {certificate}, in PEM format"


def _context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
