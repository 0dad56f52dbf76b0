"""Looking at what is there once everything has come to rest."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any

import httpx
from tests.soak.checker import Observed, judge
from tests.soak.history import History, Kind
from tests.soak.load import HEADERS
from tests.soak.stage import Stage
from tests.support.waiting import until

SECONDS_TO_REST = 150
SECONDS_TO_AGREE = 60
_FINAL = ("done", "failed", "cancelled")


class Looking:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.under_way: list[str] = []
        self.dead_letters: Counter[str] = Counter()
        self._client = httpx.AsyncClient(
            base_url=stage.instances[-1].url, headers=HEADERS, timeout=30,
            transport=httpx.AsyncHTTPTransport(retries=3),
        )  # fmt: skip

    async def at_rest(self, history: History) -> None:
        """Wait until nothing is under way any longer; what still is after that is a finding."""
        due = {each.marker for each in history.of(Kind.REMINDER)}

        async def resting() -> bool:
            return not await self._under_way(due)

        with suppress(TimeoutError):
            await until(resting, seconds=SECONDS_TO_REST)

    async def _under_way(self, reminders: set[str]) -> bool:
        await asyncio.sleep(1)  # everything it asks for costs something
        running = await self._get("/v1/proposals", state="running")
        jobs = [job async for job in self._all("/v1/jobs") if job["state"] not in _FINAL and job["user"]]
        open_lines = await self._get("/v1/executions", status="running")
        titles = {task["title"] async for task in self._all("/v1/tasks", search="remind")}
        told = set(self._stage.webhook.deliveries)
        self.under_way = [
            *(f"proposal {each['id']}" for each in running["items"]),
            *(
                f"job {each['id']} {each['kind']} {each['state']}: {each['error'] or each['note']}"
                for each in jobs
            ),
            *(f"line {each['tool']} {each['call_id']}" for each in open_lines["items"]),
            *(f"reminder {each}" for each in (titles & reminders) - told),
        ]
        return bool(self.under_way)

    async def settled(self, history: History) -> Observed:
        """What is there once it agrees with the history, or what does not after so long.

        A program that was killed last leaves what is only found a little later: that its lease is over, that
        nobody wrote down what became of its call.
        """
        patient_until = time.monotonic() + SECONDS_TO_AGREE
        seen = await self.observe(history)
        while judge(history, seen) and time.monotonic() < patient_until:
            await asyncio.sleep(2)
            seen = await self.observe(history)
        return seen

    async def observe(self, history: History) -> Observed:
        self.dead_letters.clear()
        seen = Observed(deliveries=self._stage.webhook.deliveries)
        async for task in self._all("/v1/tasks"):
            seen.tasks[task["title"]] += 1
            if task["completed"]:
                seen.completed.add(task["title"])
        texts = [memory["content"] async for memory in self._all("/v1/memory", superseded=True)]
        for fact in history.of(Kind.FACT):
            seen.facts[fact.marker] = sum(fact.marker in text for text in texts)
        seen.effects = Counter(
            json.loads(line)["marker"] for line in self._stage.receiver.read_text().splitlines()
        )
        await self._record(seen)
        async for job in self._all("/v1/jobs"):
            seen.jobs[job["id"]] = job["state"]
            seen.lines.append(f"job {job}")
            if job["state"] == "failed":
                self.dead_letters[str(job["error"])[:160]] += 1
        async for notice in self._all("/v1/notices"):
            seen.notices[notice["title"]] += 1
        await self._conversations(seen, history)
        checked = await self._get("/v1/executions/verify")
        seen.record = [f"{each['what']} ({each['home']} {each['number']})" for each in checked["problems"]]
        return seen

    async def _record(self, seen: Observed) -> None:
        unknown: set[str] = set()
        async for line in self._all("/v1/executions"):
            seen.lines.append(f"call {line}")
            arguments = line.get("arguments")
            if isinstance(arguments, dict) and "marker" in arguments:
                seen.with_line.add(arguments["marker"])
            if line["status"] == "interrupted" or line.get("outcome_unknown"):
                unknown.add(line["call_id"])
        async for proposal in self._all("/v1/proposals"):
            seen.proposals[proposal["id"]] = proposal["state"]
            seen.lines.append(f"proposal {proposal}")
            if proposal["call_id"] in unknown:
                seen.announced.add(proposal["id"])

    async def _conversations(self, seen: Observed, history: History) -> None:
        for operation in history.of(Kind.DELETED):
            if operation.proposal and seen.proposals.get(operation.proposal) == "unknown":
                read = await self._get(f"/v1/conversations/{operation.conversation}")
                if operation.proposal in _told(read["turns"]):
                    seen.told_in_conversation.add(operation.proposal)

    async def _get(self, path: str, **query: Any) -> dict[str, Any]:
        return (await self._client.get(path, params=query)).raise_for_status().json()

    async def _all(self, path: str, **query: Any) -> AsyncIterator[dict[str, Any]]:
        after: dict[str, Any] = {}
        while True:
            page = await self._get(path, limit=100, **query, **after)
            for item in page["items"]:
                yield item
            if not page["next"]:
                return
            after = {"after": page["next"]}


def _told(turns: Iterable[dict[str, Any]]) -> set[str]:
    calls = [call for turn in turns for call in turn["answer"]["tool_calls"]]
    return {call["proposal_id"] for call in calls if call["outcome_unknown"] and call.get("proposal_id")}
