"""A backup that was made to plant a token or an address is refused before anything of the home changes."""

from pathlib import Path

import pytest

from steward.bootstrap.workspace.backup import KIND, restore
from steward.contract.errors import ConflictError
from steward.settings import load_settings
from steward.storage.database.archive import ArchiveWriter


@pytest.mark.parametrize("name", ["token", "instance.json", "open.html", "database/data/pg_hba.conf"])
async def test_a_backup_that_brings_what_none_of_ours_holds_is_refused(tmp_path: Path, name: str) -> None:
    planted, home = tmp_path / "planted", tmp_path / "home"
    planted.write_text("stw_0123456789ab_" + "x" * 43)
    with ArchiveWriter(tmp_path / "backup.zip", kind=KIND, about={}) as archive:
        archive.file(f"home/{name}", planted)
    settings = load_settings(STEWARD_HOME=home, DATABASE_URL=None)
    with pytest.raises(ConflictError) as caught:
        await restore(settings, tmp_path / "backup.zip", force=True)
    assert (name in caught.value.message, (home / name).exists()) == (True, False)
