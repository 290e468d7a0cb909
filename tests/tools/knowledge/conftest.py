"""Files to read."""

import io
from collections.abc import Callable

import pytest

from benchmarks.closed_world.pdf import pdf

MakePdf = Callable[..., bytes]


def make_pdf(*pages: str, title: str = "Report", password: str | None = None) -> bytes:
    """A PDF whose pages hold these lines; pypdf encrypts it where there is a password."""
    body = pdf(title, [page.split("\n") if page else [] for page in pages])
    if password is None:
        return body
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(body)))
    writer.encrypt(password, algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


@pytest.fixture
def a_pdf() -> MakePdf:
    return make_pdf
