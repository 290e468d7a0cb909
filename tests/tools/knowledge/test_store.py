"""Collections on disk: incremental, whole or not at all, and clear about what is wrong."""

import json
import os
from pathlib import Path

import pytest

from aiq.core.errors import UserError
from aiq.tools.knowledge import store
from aiq.tools.knowledge.reading import ReadDocument, read_document
from aiq.tools.knowledge.store import Collection, Collections
from tests.tools.knowledge.conftest import MakePdf

CHARS = 200


@pytest.fixture
def files(tmp_path: Path, a_pdf: MakePdf) -> Path:
    folder = tmp_path / "files"
    (folder / "below").mkdir(parents=True)
    (folder / "report.pdf").write_bytes(a_pdf("Halden Works had a good year.", "The auditor is Mara Tolvane."))
    (folder / "below" / "notes.md").write_text("# Notes\n\nThe canteen was rebuilt. It has two rooms.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture
def known(tmp_path: Path) -> Collections:
    return Collections(str(tmp_path / "knowledge"))


@pytest.fixture
def mine(known: Collections) -> Collection:
    return known.collection("mine")


def test_a_folder_is_added_and_only_changed_files_are_read_again(
    files: Path, known: Collections, mine: Collection, a_pdf: MakePdf, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def noting(path: Path, body: bytes) -> ReadDocument:
        names.append(path.name)
        return read_document(path, body)

    monkeypatch.setattr(store, "read_document", noting)
    assert mine.add([str(files)], CHARS) == {"notes.md": True, "report.pdf": True}
    assert [(d.file_name, d.page_count, d.summary) for d in mine.documents] == [
        ("notes.md", None, "Notes. The canteen was rebuilt. It has two rooms."),
        ("report.pdf", 2, "Report. Halden Works had a good year. The auditor is Mara Tolvane."),
    ]
    assert known.names() == ("mine",)
    with pytest.raises(UserError, match=r"collection 'yours': there is none in .* \(there are: mine\); create it with"):
        known.existing("yours")
    names.clear()
    listing = files.parent / "knowledge" / "mine" / "collection.json"
    modified = listing.stat().st_mtime_ns
    os.utime(files / "report.pdf")
    assert mine.add([str(files)], CHARS) == {"notes.md": False, "report.pdf": False}
    assert (names, listing.stat().st_mtime_ns) == ([], modified)
    (files / "report.pdf").write_bytes(a_pdf("Another year."))
    assert mine.add([str(files / "report.pdf")], CHARS) == {"report.pdf": True}
    assert names == ["report.pdf"]
    assert [d.page_count for d in mine.documents] == [None, 1]
    assert len(list(listing.parent.glob("*.json"))) == 3  # the old report's text is gone


@pytest.mark.parametrize(
    ("name", "body", "path", "said"),
    [
        ("broken.pdf", b"trash", "", r"broken\.pdf: it cannot be read"),
        ("notes.md", b"Other notes.", "", "has the same name, and documents are cited by name"),
        ("x.docx", b"PK", "x.docx", "only .pdf"),
        ("empty/x.docx", b"PK", "empty", r"the folder holds no \.pdf"),
        ("x.md", b"X", "absent.pdf", "No such file"),
    ],
)
def test_a_bad_file_is_named_and_changes_nothing(
    files: Path, known: Collections, mine: Collection, name: str, body: bytes, path: str, said: str
) -> None:
    (files / name).parent.mkdir(exist_ok=True)
    (files / name).write_bytes(body)
    with pytest.raises(UserError, match=said):
        mine.add([str(files / path)], CHARS)
    assert (mine.documents, known.names()) == ((), ())


async def test_a_model_summarises_each_document_once(files: Path, mine: Collection) -> None:
    titles: list[str] = []

    async def write(title: str, text: str, max_chars: int) -> str:
        titles.append(title)
        if len(titles) == 2:
            raise UserError("the endpoint is gone")
        return f"About {title}."

    mine.add([str(files)], CHARS)
    with pytest.raises(UserError):
        await mine.summarise(write, CHARS)
    assert await mine.summarise(write, CHARS) == ("report.pdf",)  # the first was kept
    assert await mine.summarise(write, CHARS) == ()
    assert titles == ["Notes", "Report", "Report"]
    mine.add([str(files)], CHARS)
    assert [d.summary for d in mine.documents] == ["About Notes.", "About Report."]


@pytest.mark.parametrize("name", ["../other", "a/b", "", ".hidden", "a b"])
def test_a_name_that_could_leave_the_folder_is_refused(known: Collections, name: str) -> None:
    with pytest.raises(UserError, match="use letters"):
        known.collection(name)


@pytest.mark.parametrize("text", ["{", json.dumps({"schema_version": 2, "documents": []})])
def test_a_damaged_listing_is_named(tmp_path: Path, mine: Collection, text: str) -> None:
    folder = tmp_path / "knowledge" / "mine"
    folder.mkdir(parents=True)
    (folder / "collection.json").write_text(text)
    with pytest.raises(UserError, match=r"collection\.json: .*; delete its folder"):
        _ = mine.documents
