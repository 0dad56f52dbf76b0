"""Words of other people, wherever they are shown: no script runs, nothing is fetched, nothing moves."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Place, Visitor, code_waits, running, said
from tests.support.owner import owner_headers

pytestmark = pytest.mark.timeout(600)

CORPUS = (
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "<svg onload=window.hit=1>",
    "<svg><animate onbegin=window.hit=1 attributeName=x dur=1s>",
    '"><img src=x onerror=window.hit=1>',
    "' autofocus onfocus=window.hit=1 x='",
    '" autofocus onfocus=window.hit=1 x="',
    "</textarea><script>window.hit=1</script>",
    "</title><script>window.hit=1</script>",
    "</pre><script>window.hit=1</script>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "<a href=javascript:window.hit=1>x</a>",
    "[x](javascript:window.hit=1)",
    "[x](JaVaScRiPt:window.hit=1)",
    "[x](data:text/html,<script>parent.hit=1</script>)",
    "[x](vbscript:x)",
    "[x](\x01javascript:window.hit=1)",
    "![x](http://203.0.113.7/pixel.png)",
    '![x](x"onerror="window.hit=1)',
    "<javascript:window.hit=1>",
    "`<img src=x onerror=window.hit=1>`",
    "```html\n<script>window.hit=1</script>\n```",
    "| a |\n|---|\n| <img src=x onerror=window.hit=1> |",
    "# <img src=x onerror=window.hit=1>",
    "[ref]: javascript:window.hit=1\n\n[ref]",
    "<style>*{display:none}</style>",
    "<base href=http://203.0.113.7/>",
    "<meta http-equiv=refresh content='0;url=http://203.0.113.7/'>",
    "<form action=http://203.0.113.7/><button autofocus>x",
    "<div hx-get=/v1/me hx-trigger=load hx-on:click=window.hit=1>x</div>",
    "<div sse-connect=http://203.0.113.7/ hx-ext=sse>x</div>",
    "{{ 7 * 7 }}{% raw %}",
    "${window.hit=1}",
    "\u202e\u2066gnp.exe\u2069",
)


@pytest.fixture(scope="module")
def steward() -> Iterator[Place]:
    """One of its own: other visits look at lists that these words would fill."""
    with running() as place:
        yield place


@pytest.fixture(scope="module")
def api(steward: Place) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=steward.address, timeout=180, headers=owner_headers(steward.home)) as client:
        yield client


@pytest.fixture(scope="module")
def hostile(api: httpx.Client) -> dict[str, str]:
    """Every string of the corpus as a title, a document, a tool's output, a memory, a conversation."""
    for number, words in enumerate(CORPUS):
        api.post("/v1/tasks", json={"title": words, "description": words}).raise_for_status()
        api.post("/v1/tools/store_memory/call", json={"arguments": {"content": f"Note {number}: {words}"}})
        api.post("/v1/schedules", json={"request": words, "when": "every day at 8"}).raise_for_status()
    text = "\n\n".join(f"## {words.splitlines()[0]}\n\nzyzzyva {words}" for words in CORPUS)
    api.post(
        "/v1/tools/manage_collections/call",
        json={"arguments": {"action": "create", "collection_name": "hostile"}},
    )
    name = "<img src=x onerror=window.hit=1>.md"
    added = api.put(f"/v1/knowledge/collections/hostile/files/{name}", content=text.encode())
    added.raise_for_status()
    code = "\n".join(f"print({words!r})" for words in CORPUS)
    waiting, ran = code_waits(api, code), code_waits(api, f"{code}\nprint('ran')")
    api.post(f"/v1/proposals/{ran}/approve", json={}).raise_for_status()
    words = "\n".join(CORPUS)
    tool = {"name": "hostile", "description": words, "script": "hostile.py", "examples": list(CORPUS)}
    source = f"{words!r}\n\n\ndef run():\n    return 1\n"
    api.post("/v1/tools", json=tool | {"source": source}).raise_for_status()
    server = {"command": "none", "args": list(CORPUS), "disabled": True}
    api.post("/v1/servers", json={"servers": {"hostile": server}}).raise_for_status()
    conversation = said(api, "Show my tasks " + CORPUS[1])
    said(api, "\n".join(CORPUS[:20]), conversation=conversation)
    documents = api.get("/v1/knowledge/collections/hostile/documents").json()["items"]
    return {
        "tasks": "tasks?view=someday",
        "task search": "tasks?view=someday&q=%22%3E%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E",
        "memory": "memory",
        "waiting": f"approvals/{waiting}",
        "ran": f"approvals/{ran}",
        "inbox": "approvals",
        "decided": "approvals/decided?q=%3Csvg+onload%3Dwindow.hit%3D1%3E",
        "talk": f"chat/{conversation}",
        "found": "documents?q=zyzzyva",
        "reading": f"documents/{documents[0]['id']}",
        "collection": "documents/in/hostile",
        "activity": "activity",
        "activity filtered": "activity?caller=%22%3E%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E",
        "schedules": "schedules",
        "tools": "tools",
        "hostile tool": "tools/hostile",
        "edited tool": "tools/hostile/edit",
        "servers": "servers",
        "edited server": "servers/hostile/edit",
        "unknown": "chat/%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E",
        "tool": "tools/%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E",
    }


def test_no_script_of_anybody_else_runs(visitor: Visitor, hostile: dict[str, str]) -> None:
    visitor.sign_in()
    page = visitor.page
    for name, path in hostile.items():
        page.goto(f"{visitor.address}/{path}")
        expect(page.locator("main")).to_be_visible()
        for summary in page.locator("main details:not([open]):not(.menu) > summary").all()[:12]:
            if summary.is_visible():
                summary.click()
        assert page.evaluate("window.hit") is None, name
        strange = (
            "main :is(script, iframe, style, base, meta, object, embed, img), main [onerror], main [onload]"
        )
        assert page.locator(strange).count() == 0, name
        assert page.locator("main a[href^='javascript' i], main a[href^='data' i]").count() == 0, name
        assert page.locator("main [sse-connect]").count() == 0, name
    assert [each for each in visitor.problems if "status of 404" not in each] == []
    visitor.problems.clear()


@pytest.mark.parametrize(
    ("path", "heading", "change"),
    [("memory", "Memory", "Change this"), ("schedules", "Schedules", "Change this schedule")],
)
def test_hostile_words_are_changed_as_words(
    visitor: Visitor, hostile: dict[str, str], *, path: str, heading: str, change: str
) -> None:
    page = visitor.open(hostile[path], heading)
    for _ in range(8):
        page.get_by_label(change, exact=True).first.click()
        visitor.settle()
    expect(page.locator(".editing textarea")).to_have_count(8)
    assert page.evaluate("window.hit") is None
    written = [field.input_value() for field in page.locator(".editing textarea").all()]
    assert all(any(words.split("\n")[0] in text for words in CORPUS) for text in written)
    assert page.locator(".editing :is(script, iframe, style, img, svg:not(.icon))").count() == 0


def test_a_file_with_a_hostile_name_is_only_named(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.open("documents", "Documents")
    named = tmp_path / "<img src=x onerror=window.hit=1>.txt"
    named.write_text("")
    page.locator("#files").set_input_files(named)
    expect(page.locator("#uploads .bad")).to_contain_text(
        "<img src=x onerror=window.hit=1>.txt holds no text"
    )
    assert page.evaluate("window.hit") is None


def test_a_preview_of_hostile_words_runs_nothing(visitor: Visitor) -> None:
    page = visitor.open("tasks", "Tasks")
    for words in CORPUS[:8]:
        page.locator("#sentence").fill(words)
        expect(page.locator("#preview .reads")).to_be_visible()
        assert page.evaluate("window.hit") is None


def test_the_content_policy_allows_nothing_inline(visitor: Visitor) -> None:
    visitor.sign_in()
    opened = visitor.page.goto(f"{visitor.address}/tasks")
    assert opened is not None
    policy = opened.headers["content-security-policy"]
    assert "'unsafe" not in policy
    assert "default-src 'none'; script-src 'self'" in policy
    visitor.page.evaluate(
        "() => { const tag = document.createElement('script'); tag.textContent = 'window.hit = 1';"
        " document.body.append(tag) }"
    )
    assert visitor.page.evaluate("window.hit") is None
    assert any("Content Security Policy" in each for each in visitor.problems)
    visitor.problems.clear()
