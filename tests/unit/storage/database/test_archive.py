"""Archives that came over a wire are held to limits before anything of them is unpacked."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from steward.contract.errors import InputError
from steward.storage.database import archive
from steward.storage.database.archive import ArchiveReader


def packed(folder: Path, **parts: bytes) -> Path:
    path = folder / "export.zip"
    told = {name: {"sha256": hashlib.sha256(content).hexdigest()} for name, content in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
        made.writestr("manifest.json", json.dumps({"format": "export", "version": 1, "parts": told}))
    return path


def test_one_that_unpacks_to_far_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, a=bytes(archive.ALWAYS_UNPACKED + 1))
    with pytest.raises(InputError, match="times its size"):
        ArchiveReader(path, kind="export", strict=True)
    ArchiveReader(path, kind="export").close()  # a backup of one's own may pack as well as it can


def test_one_with_more_parts_than_any_of_ours_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_PARTS", 2)
    with pytest.raises(InputError, match="more than 2 parts"):
        ArchiveReader(packed(tmp_path, a=b"1", b=b"2"), kind="export", strict=True)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LONGEST_LINE", 10)
    with ArchiveReader(packed(tmp_path, a=b"short\n" + b"x" * 11), kind="export") as read:
        lines = read.lines("a")
        assert next(lines) == "short"
        with pytest.raises(InputError, match="a line of more than 10 bytes"):
            next(lines)
