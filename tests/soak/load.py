"""Mixed load: clients that ask at any instance, never ask again unless a key makes that safe, and note what
they heard."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx
from tests.soak.history import Heard, History, Kind, Operation
from tests.soak.stage import KEY, Stage

CLIENTS = 5
PATIENCE = 45.0
HEADERS = {"X-API-Key": KEY}


class Load:
    def __init__(self, stage: Stage, history: History, *, seed: int) -> None:
        self._stage = stage
        self.history = history
        self._random = random.Random(seed)
        self._numbers = count()
        self._over = False
        self._client = httpx.AsyncClient(
            timeout=PATIENCE, headers=HEADERS, limits=httpx.Limits(max_keepalive_connections=0)
        )
        self.asked = 0

    async def run(self, seconds: float) -> None:
        clients = [asyncio.create_task(self._ask_on()) for _ in range(CLIENTS)]
        await asyncio.sleep(seconds)
        self._over = True
        await asyncio.gather(*clients)
        await self._client.aclose()

    async def _ask_on(self) -> None:
        mix: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (8, self._task),
            (4, self._keyed),
            (4, self._completed),
            (3, self._fact),
            (6, self._call),
            (6, self._approved),
            (6, self._tolled),
            (4, self._job),
            (3, self._reminder),
            (2, self._turn),
            (2, self._deleted),
            (4, self._look),
        ]
        weights, asks = zip(*mix, strict=True)
        while not self._over:
            [ask] = self._random.choices(asks, weights)
            self.asked += 1
            await ask()
            await asyncio.sleep(self._random.uniform(0.02, 0.2))

    # --- asking ---

    def _marker(self, kind: str) -> str:
        return f"{kind}{next(self._numbers):05d}x{self._random.randrange(16**4):04x}"

    def _url(self) -> str:
        return self._random.choice(self._stage.instances).url

    async def _post(self, path: str, body: dict[str, Any], **headers: str) -> dict[str, Any] | None:
        """What it answered; None for no answer at all."""
        try:
            answer = await self._client.post(f"{self._url()}{path}", json=body, headers=headers)
            return {"http": answer.status_code, **answer.json()}
        except (httpx.HTTPError, ValueError):
            return None

    async def _tool(self, name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any] | None:
        return await self._post(f"/v1/tools/{name}/call", {"arguments": arguments, **more})

    def _note(self, kind: Kind, marker: str, answer: dict[str, Any] | None, **more: Any) -> None:
        heard = heard_in(answer)
        said = "" if answer is None else str(answer.get("error") or answer.get("detail") or "")[:120]
        self.history.note(Operation(kind, marker, heard, said=said, **more))

    # --- each kind ---

    async def _task(self) -> None:
        marker = self._marker("task")
        self._note(Kind.TASK, marker, await self._post("/v1/tasks", {"title": marker}))

    async def _keyed(self) -> None:
        marker = self._marker("keyed")
        answer = None
        for _ in range(20):
            answer = await self._post("/v1/tasks", {"title": marker, "idempotency_key": marker})
            if heard_in(answer) is Heard.YES or self._over:
                break
            await asyncio.sleep(1)
        self._note(Kind.KEYED, marker, answer if heard_in(answer) is Heard.YES else None)

    async def _completed(self) -> None:
        about = self._marker("finish")
        added = await self._post("/v1/tasks", {"title": about})
        self._note(Kind.TASK, about, added)
        if added is not None and heard_in(added) is Heard.YES:
            done = await self._post(f"/v1/tasks/{added['data']['task']['id']}/complete", {})
            self._note(Kind.COMPLETED, f"{about}-done", done, about=about)

    async def _fact(self) -> None:
        marker = self._marker("fact")
        self._note(Kind.FACT, marker, await self._tool("store_memory", {"content": f"The code is {marker}."}))

    async def _call(self) -> None:
        marker = self._marker("ring")
        self._note(Kind.CALL, marker, await self._tool("bell__ring", {"marker": marker}))

    async def _approved(self) -> None:
        await self._approve(Kind.APPROVED, "strike", self._marker("strike"))

    async def _tolled(self) -> None:
        await self._approve(Kind.TOLLED, "bell__toll", self._marker("toll"))

    async def _approve(self, kind: Kind, tool: str, marker: str) -> None:
        """Two say yes at once, perhaps at different instances."""
        asked = await self._tool(tool, {"marker": marker})
        proposal = None if asked is None else asked.get("proposal_id")
        if proposal is None:
            self._note(kind, marker, asked)
            return
        both = [self._post(f"/v1/proposals/{proposal}/approve", {}) for _ in range(2)]
        answers = await asyncio.gather(*both)
        best = min(answers, key=lambda answer: list(Heard).index(heard_in(answer, decided=True)))
        if None in answers and heard_in(best) is not Heard.YES:
            best = None
        heard = heard_in(best, decided=True)
        said = "" if best is None else str(best.get("error") or best.get("detail") or "")[:120]
        if all(heard_in(answer) is Heard.YES for answer in answers):
            said = "both were told that theirs ran it"
        self.history.note(Operation(kind, marker, heard, proposal=proposal, said=said))

    async def _job(self) -> None:
        marker = self._marker("job")
        queued = await self._tool("bell__ring", {"marker": marker}, background=True)
        if queued is not None and queued["http"] == 202:
            self.history.note(Operation(Kind.JOB, marker, Heard.YES, job=queued["job"]))
        else:
            self.history.note(Operation(Kind.JOB, marker, Heard.NOTHING))

    async def _reminder(self) -> None:
        marker = self._marker("remind")
        due = (datetime.now(UTC) + timedelta(seconds=self._random.uniform(2, 15))).isoformat()
        body = {"title": marker, "due_date": due, "notify": True}
        self._note(Kind.REMINDER, marker, await self._post("/v1/tasks", body))

    async def _turn(self) -> None:
        marker = self._marker("turn")
        answer = await self._post("/v1/chat", {"message": f"Add a task called {marker}", "agent": "tasks"})
        made = [call for call in (answer or {}).get("tool_calls", ()) if call["tool"] == "add_task"]
        heard = Heard.YES if any(call["status"] == "done" for call in made) else Heard.NOTHING
        self.history.note(Operation(Kind.TURN, marker, heard))

    async def _deleted(self) -> None:
        about = self._marker("delete")
        added = await self._post("/v1/tasks", {"title": about})
        if heard_in(added) is not Heard.YES:
            return
        asked = await self._post("/v1/chat", {"message": f"Delete the task {about}", "agent": "tasks"})
        if asked is None or not asked.get("proposal_id"):
            return
        here = asked["conversation"]
        answer = await self._post("/v1/chat", {"message": "Yes", "conversation": here})
        made = [call for call in (answer or {}).get("tool_calls", ()) if call["tool"] == "delete_task"]
        heard = Heard.YES if any(call["status"] == "done" for call in made) else Heard.NOTHING
        self.history.note(
            Operation(
                Kind.DELETED,
                f"{about}-gone",
                heard,
                proposal=asked["proposal_id"],
                conversation=here,
                about=about,
            )
        )

    async def _look(self) -> None:
        with suppress(httpx.HTTPError):
            await self._client.get(f"{self._url()}/v1/tasks?limit=20")
            await self._client.get(f"{self._url()}/v1/executions?limit=20")


def heard_in(answer: dict[str, Any] | None, *, decided: bool = False) -> Heard:
    if answer is None or answer.get("outcome_unknown"):
        return Heard.NOTHING
    if answer["http"] == 200 and answer.get("success") is True:
        return Heard.YES
    if decided and answer.get("code") == "PROPOSAL_ALREADY_DECIDED":
        return Heard.NOTHING  # the other yes was first
    if answer["http"] >= 500 and answer.get("code") != "RECORD_FAILED":
        return Heard.NOTHING  # an error on the way says nothing about what happened
    return Heard.NO
