"""HTTPS on the live web: the connection goes to a checked address, the certificate must be the name's."""

import datetime
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from aiq.core.errors import ToolError, ToolErrorKind
from aiq.core.settings import WebSettings
from aiq.tools.live import LiveWeb

pytest.importorskip("cryptography", reason="makes the test's certificate")


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for `name` and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "cert.pem", folder / "key.pem"
    certificate_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate_file, key_file


@pytest.fixture
def secure_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An HTTPS server whose certificate is good.example's, trusted by this process."""
    certificate_file, key_file = certificate(tmp_path, "good.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate_file))

    async def hello(request: Request) -> Response:
        return PlainTextResponse(f"hello {request.url.hostname}")

    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/", hello)])
    config = uvicorn.Config(
        app, log_level="critical", lifespan="off", ssl_certfile=str(certificate_file), ssl_keyfile=str(key_file)
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = server.force_exit = True
    thread.join(timeout=10)
    listener.close()


async def loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def test_the_certificate_is_checked_against_the_name(secure_port: int) -> None:
    allowed = (f"good.example:{secure_port}", f"other.example:{secure_port}")
    web = LiveWeb(WebSettings(kind="live", allow_hosts=allowed), resolve=loopback)
    assert (await web.fetch(f"https://good.example:{secure_port}/")).text == "hello good.example"
    with pytest.raises(ToolError, match="certificate") as caught:
        await web.fetch(f"https://other.example:{secure_port}/")
    assert caught.value.kind is ToolErrorKind.HTTP
