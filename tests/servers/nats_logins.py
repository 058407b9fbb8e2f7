"""The credentials of NATS servers and their users: certificates, NKeys, and JWTs that an operator signs."""

import os
from base64 import b32encode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from ipaddress import IPv4Address
from pathlib import Path

import msgspec
import nkeys  # type: ignore[import-untyped]
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["certificates", "key_pair", "operator"]

_LIMITS = {**dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1), "wildcards": True}
_JETSTREAM_LIMITS = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)


def certificates(folder: Path) -> None:
    """An authority of our own, and certificates for a server on this machine and a user (`ann`)."""
    keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("ca", "server", "ann")}
    names = {"ca": "planwire tests", "server": "127.0.0.1", "ann": "ann"}
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names["ca"])])
    for name, key in keys.items():
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[name])])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(name == "ca", None), critical=True)
        if name == "server":
            here = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
            builder = builder.add_extension(here, critical=False)
        made = builder.sign(keys["ca"], hashes.SHA256())
        (folder / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (folder / f"{name}.key").write_bytes(private)


def key_pair(prefix: int = nkeys.PREFIX_BYTE_USER) -> nkeys.KeyPair:
    return nkeys.from_seed(nkeys.encode_seed(os.urandom(32), prefix))


def operator(folder: Path) -> str:
    """The configuration of a server whose users an operator vouches for, and the credentials file of one of them
    (`ann.creds`)."""
    vouching = key_pair(nkeys.PREFIX_BYTE_OPERATOR)
    system, account = (key_pair(nkeys.PREFIX_BYTE_ACCOUNT) for _ in range(2))
    user = key_pair()
    own = _jwt(vouching, vouching, {"type": "operator", "system_account": _name(system)})
    accounts = {
        _name(system): _jwt(vouching, system, {"type": "account", "limits": _LIMITS}),
        _name(account): _jwt(vouching, account, {"type": "account", "limits": _LIMITS | _JETSTREAM_LIMITS}),
    }
    token = _jwt(account, user, {"type": "user", "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1})
    (folder / "ann.creds").write_text(
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n"
    )
    preloaded = "\n".join(f"{name}: {jwt}" for name, jwt in accounts.items())
    return (
        f"operator: {own}\nsystem_account: {_name(system)}\nresolver: MEMORY\nresolver_preload: {{\n{preloaded}\n}}\n"
    )


def _name(pair: nkeys.KeyPair) -> str:
    return str(pair.public_key.decode())


def _jwt(issuer: nkeys.KeyPair, subject: nkeys.KeyPair, claims: dict[str, object]) -> str:
    """A token as NATS has them: signed with an NKey."""
    payload: dict[str, object] = {
        "iat": int(datetime.now(UTC).timestamp()),
        "iss": _name(issuer),
        "name": "planwire tests",
        "sub": _name(subject),
        "nats": {**claims, "version": 2},
    }
    payload["jti"] = b32encode(sha256(msgspec.json.encode(payload)).digest()).decode().rstrip("=")
    words = [_word(msgspec.json.encode(each)) for each in ({"typ": "JWT", "alg": "ed25519-nkey"}, payload)]
    signed = ".".join(words)
    return f"{signed}.{_word(issuer.sign(signed.encode()))}"


def _word(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
