"""Memory and the history of queries through the door and the API: whose they are, and how they go."""

from typing import Any

import httpx
from tests.integration.api.conftest import Connect

from steward.bootstrap import Platform


async def call(api: httpx.AsyncClient, tool: str, **arguments: Any) -> httpx.Response:
    return await api.post(f"/v1/tools/{tool}/call", json={"arguments": arguments})


async def test_forgetting_waits_for_a_person_and_says_how_much_it_forgot(api: httpx.AsyncClient) -> None:
    for number in ("123", "456"):
        stored = (await call(api, "store_memory", content=f"Ana's phone number is {number}.")).json()
    listed = (await api.get("/v1/memory")).json()["items"]
    assert [(item["content"], item["source"]) for item in listed] == [
        ("Ana's phone number is 456.", "person:local")
    ]
    past = (await api.get("/v1/memory", params={"superseded": True})).json()["items"]
    assert [item["superseded_by"] for item in past] == [None, stored["data"]]
    waiting = await call(api, "forget_memory", id=stored["data"])
    assert (waiting.status_code, waiting.json()["status"]) == (202, "pending_approval")
    assert len((await api.get("/v1/memory")).json()["items"]) == 1
    done = await api.post(f"/v1/proposals/{waiting.json()['proposal_id']}/approve", json={})
    assert done.json()["data"] == {"forgotten": 2}
    assert (await api.get("/v1/memory", params={"superseded": True})).json()["items"] == []
    unsaid = await call(api, "forget_memory", project="boat")
    assert (unsaid.status_code, unsaid.json()["code"]) == (422, "INVALID_ARGUMENTS")
    everything = await call(api, "forget_memory", everything=True, project="boat")
    proposal = (await api.get(f"/v1/proposals/{everything.json()['proposal_id']}")).json()
    assert proposal["effect"] == "forgets all 0 memories in the project 'boat'"
    assert "│ What it does: forgets all 0 memories" in proposal["shown"]


async def test_an_erased_user_leaves_no_memory_and_no_query(platform: Platform, connect: Connect) -> None:
    root = connect(key=platform.owner_token)
    await root.post("/v1/users", json={"id": "ana"})
    made = (await root.post("/v1/keys", json={"name": "ana", "role": "use", "user": "ana"})).json()
    ana = connect(key=made["token"])
    for api, words in ((ana, "Ana keeps bees."), (root, "The boiler is new.")):
        await call(api, "store_memory", content=words)
        await call(api, "query_knowledge_base", query=words)
        assert [item["content"] for item in (await api.get("/v1/memory")).json()["items"]] == [words]
        assert [q["query"] for q in (await api.get("/v1/knowledge/queries")).json()["items"]] == [words]
    erased = await root.delete("/v1/users/ana", params={"confirm": "ana"})
    assert erased.status_code == 200
    left = "SELECT count(*) FROM {} WHERE user_id = 'ana'"
    assert await platform.database.fetchval(left.format("memories")) == 0
    assert await platform.database.fetchval(left.format("kb_queries")) == 0
    assert len((await root.get("/v1/knowledge/queries")).json()["items"]) == 1


async def test_vectors_of_an_embedder_go_only_by_an_administrator_who_repeats_its_name(
    platform: Platform, connect: Connect
) -> None:
    root = connect(key=platform.owner_token)
    made = (await root.post("/v1/keys", json={"name": "reader", "role": "use"})).json()
    await platform.database.execute("INSERT INTO kb_spaces (embedder, dimensions) VALUES ('maker/old', 3)")
    await platform.database.execute(
        "INSERT INTO kb_vectors (chunk_id, collection_id, space, embedding) "
        "SELECT 1, 1, id, '[1,2,3]' FROM kb_spaces WHERE embedder = 'maker/old'"
    )
    (old,) = (await connect(key=made["token"]).get("/v1/knowledge/embedders")).json()["items"]
    assert old == {"name": "maker/old", "dimensions": 3, "documents": 0, "vectors": 1, "in_use": False} | {
        "size_bytes": old["size_bytes"]
    }
    address, yes = "/v1/knowledge/embedders/maker%2Fold", {"confirm": "maker/old"}
    assert (await connect(key=made["token"]).delete(address, params=yes)).status_code == 403
    assert (await root.delete(address)).status_code == 409
    assert (await root.delete(address, params=yes)).json() == {"name": "maker/old", "vectors": 1}
    assert (await root.delete(address, params=yes)).status_code == 404
