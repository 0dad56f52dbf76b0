"""Keys and roles."""

from collections.abc import Sequence

import pytest

from steward.contract.errors import ForbiddenError, InputError, NotFoundError
from steward.policy import access
from steward.policy.access import (
    Holder,
    Key,
    Keys,
    Role,
    came_through_a_proxy,
    digest,
    is_token,
    new_token,
)
from steward.testing import MemoryKeyStore


class CountingStore(MemoryKeyStore):
    """Counts how often it is asked."""

    asked = 0

    async def get(self, key_id: str) -> Key | None:
        self.asked += 1
        return await super().get(key_id)

    async def list(self) -> Sequence[Key]:
        self.asked += 1
        return await super().list()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(store: CountingStore, clock: Clock) -> Keys:
    return Keys(store, clock=clock)


async def refused(keys: Keys, token: str | None, *, passed_on: bool = False) -> str:
    with pytest.raises(ForbiddenError) as caught:
        await keys.admit(token, passed_on=passed_on)
    return caught.value.code


async def test_a_key_opens_the_door_for_its_holder_and_only_its_hash_is_kept(
    keys: Keys, store: CountingStore
) -> None:
    key, token = await keys.add("laptop", Role.APPROVE, user="ana")
    assert await keys.admit(token) == Holder("laptop", Role.APPROVE, "ana")
    assert store.keys[key.id].digest == digest(token)
    assert token.removeprefix(f"stw_{key.id}_") not in repr(store.keys)
    assert len(token) == len("stw_") + 12 + 1 + 43


async def test_what_is_not_a_key_opens_nothing(keys: Keys) -> None:
    key, token = await keys.add("laptop", Role.ADMIN)
    forged = [
        f"stw_{key.id}_{'x' * 43}",
        f"stw_{'0' * 12}_{'x' * 43}",
        token + "x",
        token.upper(),
        "",
        "\ud800",
    ]
    for wrong in forged:
        assert await refused(keys, wrong) == "UNAUTHENTICATED"


async def test_the_key_of_the_settings_is_a_key_like_any_other() -> None:
    assert await Keys(MemoryKeyStore(), root="from-the-settings").exist()


async def test_without_a_key_nobody_is_anybody_whether_there_are_keys_or_not(keys: Keys) -> None:
    assert (await refused(keys, None), await keys.exist()) == ("UNAUTHENTICATED", False)
    assert not await keys.exist()  # believed for a while
    await keys.add("laptop", Role.READ)
    assert (await refused(keys, None), await keys.exist()) == ("UNAUTHENTICATED", True)
    await keys.revoke("laptop")
    assert await refused(keys, None) == "UNAUTHENTICATED"


async def test_the_owners_token_opens_everything_but_nothing_through_a_proxy(store: CountingStore) -> None:
    _, token = new_token()
    keys = Keys(store, owner=token)
    assert await keys.admit(token) == Holder("local", Role.ADMIN, owner=True)
    assert await refused(keys, token, passed_on=True) == "UNAUTHENTICATED"
    assert await refused(keys, new_token()[1]) == "UNAUTHENTICATED"
    assert not await keys.exist()


async def test_a_key_opens_the_same_through_a_proxy(keys: Keys) -> None:
    _, token = await keys.add("desk", Role.READ)
    assert await keys.admit(token, passed_on=True) == Holder("desk", Role.READ)


@pytest.mark.parametrize(
    ("name", "passed_on"),
    [
        ("x-forwarded-for", True),
        ("x-forwarded-anything", True),
        ("forwarded", True),
        ("via", True),
        ("x-real-ip", True),
        ("x-forwarded", True),
        ("cf-connecting-ip", True),
        ("tailscale-user-login", True),
        ("true-client-ip", True),
        ("x-api-key", False),
        ("x-request-id", False),
    ],
)
def test_a_request_that_somebody_passed_on_is_known_by_its_headers(name: str, *, passed_on: bool) -> None:
    assert came_through_a_proxy(["host", name]) is passed_on


@pytest.mark.parametrize("name", ["local", "Local", "api-key"])
async def test_no_key_is_called_as_the_owner_is(keys: Keys, name: str) -> None:
    with pytest.raises(InputError):
        await keys.add(name, Role.READ)


def test_a_token_is_told_from_other_text() -> None:
    _, token = new_token()
    assert [is_token(text) for text in (token, token + "x", "", "local")] == [True, False, False, False]


async def test_the_key_of_the_settings_may_do_everything(store: CountingStore) -> None:
    keys = Keys(store, root="from the settings")
    assert await keys.admit("from the settings") == Holder("api-key", Role.ADMIN)
    assert await refused(keys, "another") == "UNAUTHENTICATED"
    assert await refused(keys, None) == "UNAUTHENTICATED"


async def test_the_store_is_asked_once_in_a_while_not_on_every_request(
    keys: Keys, store: CountingStore, clock: Clock
) -> None:
    key, token = await keys.add("laptop", Role.USE)
    for _ in range(3):
        await keys.admit(token)
    assert store.asked == 1
    del store.keys[key.id]  # revoked by another process
    clock.now += access.SECONDS_BELIEVED + 1
    assert await refused(keys, token) == "UNAUTHENTICATED"


async def test_a_revoked_key_opens_nothing_from_then_on(keys: Keys) -> None:
    kept = (await keys.add("kept", Role.READ))[0]
    by_name, by_id = await keys.add("one", Role.USE), await keys.add("two", Role.USE)
    for _, token in (by_name, by_id):
        await keys.admit(token)
    assert (await keys.revoke("one"), await keys.revoke(by_id[0].id)) == (by_name[0], by_id[0])
    for _, token in (by_name, by_id):
        assert await refused(keys, token) == "UNAUTHENTICATED"
    with pytest.raises(NotFoundError):
        await keys.revoke("one")
    assert await keys.list() == [kept]


async def test_a_key_may_do_less_from_the_change_of_its_role_on(keys: Keys) -> None:
    key, token = await keys.add("laptop", Role.ADMIN)
    assert (await keys.admit(token)).role is Role.ADMIN
    assert (await keys.change_role("laptop", Role.READ)).role is Role.READ
    assert (await keys.admit(token)).role is Role.READ
    assert (await keys.change_role(key.id, Role.USE)).role is Role.USE
    with pytest.raises(NotFoundError):
        await keys.change_role("phone", Role.USE)


async def test_what_is_remembered_stays_bounded(
    keys: Keys, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MAX_REMEMBERED", 1)
    first, second = (await keys.add("one", Role.USE))[1], (await keys.add("two", Role.USE))[1]
    for token in (first, second, first):
        await keys.admit(token)
    assert store.asked == 3


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 65, "a/b"])
async def test_an_odd_name_is_refused(keys: Keys, name: str) -> None:
    with pytest.raises(InputError):
        await keys.add(name, Role.USE)
    with pytest.raises(InputError):
        await keys.add("fine", Role.USE, user=name)


def test_each_role_may_do_what_those_before_it_may() -> None:
    for role in Role:
        holder = Holder("x", role)
        for needed in Role:
            if needed <= role:
                holder.require(needed)
            else:
                with pytest.raises(ForbiddenError) as caught:
                    holder.require(needed)
                assert caught.value.code == "FORBIDDEN"


def test_roles_are_read_from_words() -> None:
    assert [Role.parse(word) for word in ("read", "USE", "Approve", "admin")] == list(Role)
    with pytest.raises(InputError):
        Role.parse("king")


class RacedStore(MemoryKeyStore):
    """Each key that is looked for is revoked elsewhere at the same moment."""

    async def list(self) -> Sequence[Key]:
        known = await super().list()
        self.keys.clear()
        return known


async def test_a_key_that_goes_meanwhile_is_said_not_to_be_there() -> None:
    keys = Keys(RacedStore())
    await keys.add("laptop", Role.READ)
    with pytest.raises(NotFoundError):
        await keys.change_role("laptop", Role.USE)
    await keys.add("laptop", Role.READ)
    with pytest.raises(NotFoundError):
        await keys.revoke("laptop")
