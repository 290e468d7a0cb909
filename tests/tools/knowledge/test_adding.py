"""Collections on disk: incremental, whole or not at all, and clear about what is wrong."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aiq.core.errors import UserError
from aiq.core.settings import KnowledgeSettings
from aiq.tools.knowledge import adding
from aiq.tools.knowledge.adding import add_files, summarise
from aiq.tools.knowledge.reading import ReadDocument, read_document
from aiq.tools.knowledge.store import Collection, Collections

MakePdf = Callable[..., bytes]


@pytest.fixture
def files(tmp_path: Path, a_pdf: MakePdf) -> Path:
    folder = tmp_path / "files"
    (folder / "below").mkdir(parents=True)
    (folder / "report.pdf").write_bytes(a_pdf("Halden Works had a good year.", "The auditor is Mara Tolvane."))
    (folder / "below" / "notes.md").write_text("# Notes\n\nThe canteen was rebuilt. It has two rooms.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture
def mine(knowledge: KnowledgeSettings) -> Collection:
    return Collections(knowledge.dir).collection("mine")


def test_a_folder_is_added_with_what_can_be_read_in_it(
    files: Path, mine: Collection, knowledge: KnowledgeSettings
) -> None:
    added = add_files(mine, [str(files)], knowledge)
    assert sorted(added.read) == ["notes.md", "report.pdf"]
    assert [(d.file_name, d.page_count, d.summary) for d in mine.documents] == [
        ("notes.md", None, "Notes. The canteen was rebuilt. It has two rooms."),
        ("report.pdf", 2, "Report. Halden Works had a good year. The auditor is Mara Tolvane."),
    ]
    assert Collections(knowledge.dir).names() == ("mine",)


def test_only_changed_files_are_read_again(
    files: Path, mine: Collection, knowledge: KnowledgeSettings, a_pdf: MakePdf, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noting(path: Path, body: bytes) -> ReadDocument:
        read.append(path.name)
        return read_document(path, body)

    monkeypatch.setattr(adding, "read_document", noting)
    add_files(mine, [str(files)], knowledge)
    read.clear()
    listing = Path(knowledge.dir) / "mine" / "collection.json"
    before = listing.stat().st_mtime_ns
    os.utime(files / "report.pdf")
    again = add_files(mine, [str(files)], knowledge)
    assert (read, again.read, again.summarised) == ([], (), ())
    assert listing.stat().st_mtime_ns == before
    (files / "report.pdf").write_bytes(a_pdf("Another year."))
    assert add_files(mine, [str(files / "report.pdf")], knowledge).read == ("report.pdf",)
    assert read == ["report.pdf"]
    assert [d.page_count for d in mine.documents] == [None, 1]
    texts = [f for f in (Path(knowledge.dir) / "mine").glob("*.json") if f.name != "collection.json"]
    assert len(texts) == 2  # what the old report said is gone


def test_a_bad_file_changes_nothing(files: Path, mine: Collection, knowledge: KnowledgeSettings) -> None:
    (files / "broken.pdf").write_bytes(b"trash")
    with pytest.raises(UserError, match=r"broken\.pdf: it cannot be read"):
        add_files(mine, [str(files)], knowledge)
    assert mine.documents == ()
    assert Collections(knowledge.dir).names() == ()


def test_two_files_of_one_name_are_refused(files: Path, mine: Collection, knowledge: KnowledgeSettings) -> None:
    (files / "notes.md").write_text("Other notes.")
    with pytest.raises(UserError, match="has the same name, and documents are cited by name"):
        add_files(mine, [str(files)], knowledge)


@pytest.mark.parametrize(
    ("path", "message"), [("absent.pdf", "No such file"), ("", r"the folder holds no \.pdf"), ("x.docx", "only .pdf")]
)
def test_a_path_that_gives_nothing_is_named(
    tmp_path: Path, mine: Collection, knowledge: KnowledgeSettings, path: str, message: str
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "x.docx").write_bytes(b"PK")
    with pytest.raises(UserError, match=message):
        add_files(mine, [str(folder / path)], knowledge)


async def test_a_model_summarises_each_document_once(
    files: Path, mine: Collection, knowledge: KnowledgeSettings
) -> None:
    asked: list[str] = []

    async def write(title: str, text: str, max_chars: int) -> str:
        asked.append(title)
        if len(asked) == 2:
            raise UserError("the endpoint is gone")
        return f"About {title}."

    add_files(mine, [str(files)], knowledge)
    with pytest.raises(UserError):
        await summarise(mine, write, knowledge)
    assert await summarise(mine, write, knowledge) == ("report.pdf",)  # the first was kept
    assert await summarise(mine, write, knowledge) == ()
    assert asked == ["Notes", "Report", "Report"]
    add_files(mine, [str(files)], knowledge)
    assert [d.summary for d in mine.documents] == ["About Notes.", "About Report."]


@pytest.mark.parametrize("name", ["../other", "a/b", "", ".hidden", "a b"])
def test_a_name_that_could_leave_the_folder_is_refused(knowledge: KnowledgeSettings, name: str) -> None:
    with pytest.raises(UserError, match="use letters"):
        Collections(knowledge.dir).collection(name)


def test_an_unknown_collection_is_one_line_with_those_there_are(
    files: Path, mine: Collection, knowledge: KnowledgeSettings
) -> None:
    add_files(mine, [str(files)], knowledge)
    with pytest.raises(UserError, match=r"collection 'yours': there is none in .* \(there are: mine\); make it with"):
        Collections(knowledge.dir).existing("yours")


@pytest.mark.parametrize("text", ["{", json.dumps({"schema_version": 2, "documents": []})])
def test_a_damaged_listing_is_named(mine: Collection, knowledge: KnowledgeSettings, text: str) -> None:
    folder = Path(knowledge.dir) / "mine"
    folder.mkdir(parents=True)
    (folder / "collection.json").write_text(text)
    with pytest.raises(UserError, match=r"collection\.json: .*; delete its folder"):
        _ = mine.documents
