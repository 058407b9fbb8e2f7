"""A team's board that encrypts: with a certificate of the test's own."""

import os
import socket
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID

from planwire.errors import InputError
from planwire.journal import open_journal
from planwire.session.users_file import UsersFile
from planwire.web import BoardServer
from planwire.web.team import Team
from tests.web.board import items
from tests.web.team import HTML, cookie_in, team_board, trusting

MISMATCH = (
    "the key in {1} is not that of the certificate in {0}: pass the two that were made together; in a file with a "
    "chain, the board's own certificate comes first"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "board.pem", folder / "board.key"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(pem(key))
    return str(certificate), str(secret)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no limit of open files")
def test_connections_that_begin_no_encryption_keep_nobody_out(
    tmp_path: Path, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.web.admission.most_connections", lambda: 20)
    with team_board(tmp_path, tls=files) as board, ExitStack() as held:
        for _ in range(60):
            held.enter_context(socket.create_connection(("127.0.0.1", board.server.port), timeout=20))
        for _ in range(3):
            with board.program("Ann", verify=trusting(Path(files[0]))) as ann:
                assert ann.get("/sessions").status_code == 200


def pem(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey, passphrase: bytes = b"") -> bytes:
    """A key as a file has it."""
    locked: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        locked = serialization.BestAvailableEncryption(passphrase)
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)


def test_people_sign_in_act_and_watch_over_an_encrypted_connection(tmp_path: Path, files: tuple[str, str]) -> None:
    trust = trusting(Path(files[0]))
    with team_board(tmp_path, tls=files) as board:
        assert board.base.startswith("https://127.0.0.1:")
        headers = {"Origin": board.base, **HTML}
        with httpx.Client(base_url=board.base, verify=trust, headers=headers) as browser:
            answer = browser.post("/sign-in", data={"code": board.users.pairing_code("Ben")})
            name, attributes = cookie_in(answer)
            assert name == f"__Host-planwire-team-{board.server.port}"
            assert attributes == "Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict; Secure"
            assert answer.headers["location"] == "/sessions"
            assert "can steer" in browser.get("/sessions/s1").text
            assert browser.get("/sign-in").headers["location"] == "/sessions"
            assert browser.post("/sign-in", data={"code": "BBBB-BBBB"}).headers["location"] == "/sessions"
            act = {"act": "comment", "text": "encrypted"}
            assert browser.post("/sessions/s1/plans/main/acts", json=act).status_code == 200
            with browser.stream("GET", "/live/sessions/s1") as stream:
                lines = stream.iter_lines()
                assert next(line for line in lines if line.startswith("data:"))
                board.write("s1", items("pending", summary="news, encrypted"))
                assert next(line for line in lines if "news, encrypted" in line)
            assert browser.post("/sign-out").status_code == 303
            assert browser.get("/sessions").status_code == 401
        assert board.by()[:2] == ["agent", "Ben"]
        with pytest.raises(httpx.HTTPError):
            httpx.get(board.base.replace("https", "http"))


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00"], ids=["nothing", "half a word"])
def test_who_begins_no_encryption_holds_no_connection(
    tmp_path: Path, files: tuple[str, str], said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.web.server.HEAD_SECONDS", 0.5)
    with team_board(tmp_path, tls=files) as team:
        with socket.create_connection(("127.0.0.1", team.server.port), timeout=10) as raw:
            raw.sendall(said)
            assert raw.recv(65_536) == b""
        with team.program("Ann", verify=trusting(Path(files[0]))) as ann:
            assert ann.get("/sessions").status_code == 200


def test_a_cookie_without_the_prefix_opens_nothing_at_the_root(tmp_path: Path, files: tuple[str, str]) -> None:
    """A server without encryption on the same host can plant one, but not under a name with the prefix."""
    with team_board(tmp_path, tls=files) as board, httpx.Client(verify=trusting(Path(files[0]))) as browser:
        form = {"code": board.users.pairing_code("Ben")}
        answer = browser.post(f"{board.base}/sign-in", data=form, headers={"Origin": board.base})
        name, secret = answer.headers["set-cookie"].partition(";")[0].split("=", 1)
        browser.cookies.clear()
        given = {"Cookie": f"{name.removeprefix('__Host-')}={secret}"}
        assert browser.get(f"{board.base}/sessions", headers=given).status_code == 401
        assert browser.get(f"{board.base}/sessions", headers={"Cookie": f"{name}={secret}"}).status_code == 200


def test_a_page_of_the_same_name_that_is_not_encrypted_can_not_act(tmp_path: Path, files: tuple[str, str]) -> None:
    """Whoever sits on the network can make one."""
    with team_board(tmp_path, tls=files) as board, httpx.Client(verify=trusting(Path(files[0]))) as browser:
        form = {"code": board.users.pairing_code("Ben")}
        plain = {"Origin": board.base.replace("https", "http")}
        assert browser.post(f"{board.base}/sign-in", data=form, headers=plain).status_code == 403
        assert browser.post(f"{board.base}/sign-in", data=form, headers={"Origin": board.base}).status_code == 303


NO_CERTIFICATE = "{0} holds no certificate in PEM format, which --tls-cert takes, with its chain"


@pytest.mark.parametrize(
    ("certificate", "key", "said"),
    [
        ("none", "board.key", "{0} can't be read (No such file or directory): --tls-cert takes a file in PEM format"),
        ("board.pem", ".", "{1} can't be read (Is a directory): --tls-key takes a file in PEM format"),
        ("text", "board.key", NO_CERTIFICATE),
        ("board.key", "board.key", NO_CERTIFICATE),
        ("board.pem", "text", "{1} holds no private key in PEM format, which --tls-key takes"),
        ("board.pem", "board.pem", "{1} holds no private key in PEM format, which --tls-key takes"),
        (
            *("board.key", "board.pem"),
            "{0} is a key, and {1} a certificate: they are swapped. Pass --tls-cert {1} and --tls-key {0}",
        ),
        (
            *("board.pem", "locked.key"),
            "the key in {1} has a passphrase, and a board has nobody to ask for it: pass a file without one, which "
            "openssl pkey -in {1} -out FILE makes",
        ),
        ("board.pem", "other.key", MISMATCH),
        ("board.pem", "of-another-kind.key", MISMATCH),
        (
            *("damaged.pem", "board.key"),
            "the certificate in {0} is damaged: pass one in PEM format, with its chain",
        ),
        ("board.pem", "damaged.key", "the key in {1} is damaged: pass the private key of {0}, in PEM format"),
    ],
)
def test_files_that_are_no_certificate_and_its_key_are_refused_at_once_with_the_one_that_is_wrong(
    tmp_path: Path, files: tuple[str, str], certificate: str, key: str, said: str
) -> None:
    folder = Path(files[0]).parent
    (folder / "text").write_text("hello")
    (folder / "locked.key").write_bytes(pem(secret := ec.generate_private_key(ec.SECP256R1()), b"a passphrase"))
    (folder / "other.key").write_bytes(pem(secret))
    (folder / "of-another-kind.key").write_bytes(pem(ed25519.Ed25519PrivateKey.generate()))
    for name in files:
        first, *_, last = Path(name).read_text().splitlines()
        (folder / f"damaged{Path(name).suffix}").write_text(f"{first}\nMIIB\n{last}\n")
    given = str(folder / certificate), str(folder / key)
    team = Team(UsersFile(tmp_path / "users.json"))
    with open_journal("memory:") as journal, pytest.raises(InputError) as refused:
        BoardServer(journal, team=team, tls=given)
    assert str(refused.value) == said.format(*given)
