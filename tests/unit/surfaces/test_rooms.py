"""The API's rooms, each loaded when an address of it is first asked for."""

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from steward.surfaces.api.rooms import ROOMS, RoomsOnDemand, router_of, word_of


def paths_of(room: str) -> Iterator[str]:
    return (route.path for route in router_of(room).routes if isinstance(route, APIRoute))


@pytest.mark.parametrize("room", ROOMS)
def test_every_address_of_a_room_begins_with_one_of_its_words(room: str) -> None:
    assert {word_of(path) for path in paths_of(room)} == ROOMS[room]


def application() -> tuple[FastAPI, httpx.AsyncClient]:
    app = FastAPI()
    transport = httpx.ASGITransport(app=RoomsOnDemand(app, api=app), raise_app_exceptions=False)
    return app, httpx.AsyncClient(transport=transport, base_url="http://localhost")


def words_served(app: FastAPI) -> set[str]:
    return {word_of(path) for path in app.openapi()["paths"]}


async def test_asking_for_an_address_loads_the_rooms_of_its_word_and_no_others() -> None:
    app, client = application()
    await client.get("/v1/knowledge/collections")
    assert words_served(app) == {"knowledge"}


async def test_asking_again_adds_nothing() -> None:
    app, client = application()
    await client.get("/v1/jobs")
    before = len(app.routes)
    await client.get("/v1/jobs")
    assert len(app.routes) == before


async def test_an_address_that_no_room_knows_loads_them_all() -> None:
    app, client = application()
    await client.get("/v1/nowhere")
    everything = {word_of(path) for room in ROOMS for path in paths_of(room)}
    assert words_served(app) == everything - {"docs"}  # a page for people is no part of the document
