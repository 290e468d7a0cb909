"""Reads dataset files, plain or gzipped, and remembers a digest of all that was read."""

import gzip
import hashlib
import zlib
from pathlib import Path

from aiq.core.errors import DatasetError


class Files:
    """The files of one dataset; their digest identifies it in a run's manifest."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the digests of all files read so far, as they lie on the disk, in the order of reading."""
        return self._digest.hexdigest()

    def text(self, path: Path, setting: str) -> str:
        """The file's text; raises DatasetError when it is absent, a folder, not UTF-8 or broken gzip.

        `setting` is the config key that named it.
        """
        if path.is_dir():
            raise DatasetError(f"{path} is a folder; {setting} must name a file")
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise DatasetError(f"there is no file {path}; check {setting}") from None
        except OSError as error:
            raise DatasetError(f"{path} cannot be read ({error.strerror}); check {setting}") from None
        self.count(data)
        if data[:2] == b"\x1f\x8b":
            try:
                data = gzip.decompress(data)
            except (OSError, EOFError, zlib.error):
                raise DatasetError(f"{path} is not a complete gzip file; fetch it again") from None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise DatasetError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None

    def count(self, data: bytes) -> None:
        """Let these bytes enter the fingerprint too."""
        self._digest.update(hashlib.sha256(data).digest())


def find(folder: Path, *names: str) -> Path | None:
    """The first of the names that lies in the folder, plain or with `.gz`."""
    for name in names:
        for candidate in (folder / name, folder / f"{name}.gz"):
            if candidate.is_file():
                return candidate
    return None
