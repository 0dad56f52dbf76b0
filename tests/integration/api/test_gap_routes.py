import httpx

from steward.bootstrap import Platform


async def test_gaps_are_listed_with_servers_that_would_close_them(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    await platform.gaps.record("local", ["banking"], task="pay my rent", agent="assistant")
    for _ in range(2):
        await platform.gaps.record("local", ["source_control"], task="open an issue", agent="assistant")
    page = (await api.get("/v1/gaps", params={"limit": 1})).json()
    assert [(item["missing"], item["times"]) for item in page["items"]] == [("source_control", 2)]
    assert "github" in [each["server"] for each in page["items"][0]["suggestions"]]
    rest = (await api.get("/v1/gaps", params={"limit": 1, "after": page["next"]})).json()
    assert ([item["missing"] for item in rest["items"]], rest["next"]) == (["banking"], None)


async def test_a_turn_that_ends_in_a_gap_is_written_down(api: httpx.AsyncClient, platform: Platform) -> None:
    answer = (await api.post("/v1/chat", json={"message": "zzz", "agent": "assistant"})).json()
    written = [gap.missing for gap in await platform.gaps.list("local")]
    assert written == answer["missing_tools"]


async def test_a_search_says_how_much_it_searched(api: httpx.AsyncClient) -> None:
    found = (await api.get("/v1/tools/search", params={"q": "what time is it", "limit": 2})).json()
    assert found["items"][0]["name"] == "get_current_time"
    assert (found["searched"] > 2, found["tokens_saved"] > 0, found["incomplete"]) == (True, True, [])
