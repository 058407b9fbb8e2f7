"""A team's board that encrypts: with a certificate of the test's own."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from planwire.errors import InputError
from planwire.journal import open_journal
from planwire.session.users_file import UsersFile
from planwire.web import BoardServer
from planwire.web.team import Team
from tests.web.board import items
from tests.web.team import HTML, cookie_in, team_board, trusting


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
    form = serialization.PrivateFormat.PKCS8
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return str(certificate), str(secret)


def test_people_sign_in_act_and_watch_over_an_encrypted_connection(tmp_path: Path, files: tuple[str, str]) -> None:
    trust = trusting(Path(files[0]))
    with team_board(tmp_path, tls=files) as board:
        assert board.base.startswith("https://127.0.0.1:")
        headers = {"Origin": board.base, **HTML}
        with httpx.Client(base_url=board.base, verify=trust, headers=headers) as browser:
            answer = browser.post("/sign-in", data={"code": board.users.pairing_code("Ben")})
            name, attributes = cookie_in(answer)
            assert name == f"__Host-planwire-team-{board.server.port}"
            assert attributes == "Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure"
            assert answer.headers["location"] == "/sessions"
            assert "can steer" in browser.get("/sessions/s1").text
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


@pytest.mark.parametrize("wrong", ["missing", "no PEM", "swapped"])
def test_files_that_are_no_certificate_and_its_key_are_said_so_at_once(
    tmp_path: Path, files: tuple[str, str], wrong: str
) -> None:
    (tmp_path / "text").write_text("hello")
    given = {"missing": (str(tmp_path / "none"), files[1]), "no PEM": (str(tmp_path / "text"), files[1])}
    team = Team(UsersFile(tmp_path / "users.json"))
    with open_journal("memory:") as journal, pytest.raises(InputError, match="PEM"):
        BoardServer(journal, team=team, tls=given.get(wrong, (files[1], files[0])))
