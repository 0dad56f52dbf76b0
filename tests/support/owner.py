"""The owner's token, as the owner's own programs read it: for tests that speak to a Steward directly."""

from pathlib import Path

import httpx

from steward.bootstrap import Platform


def owner_token(home: Path) -> str:
    return (home / "token").read_text(encoding="ascii").strip()


def owner_headers(of: Path | Platform) -> dict[str, str]:
    return {"X-API-Key": owner_token(of) if isinstance(of, Path) else of.owner_token}


def sign_in(client: httpx.Client, home: Path) -> httpx.Response:
    """A browser that follows a fresh one-time address; `client` keeps the cookie."""
    made = client.post("/v1/sign-in-links", headers=owner_headers(home)).raise_for_status().json()
    return client.get(made["path"])
