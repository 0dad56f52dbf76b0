"""`steward questions|answer`: what tools want to know from a person, and telling them."""

from typing import Annotated, Any

import typer

from steward.contract.errors import ErrorCode
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.output import JsonFlag, at_terminal, run, say, show_json, show_table


def questions(as_json: JsonFlag = False) -> None:
    """List the questions that wait for a person.

    \b
    Example: steward questions
    """

    async def work() -> None:
        async with connect() as api:
            found = await api.get("/v1/questions")
        if as_json:
            show_json(found)
            return
        rows = [
            (item["id"], item["user"], item["text"], ", ".join(item["choices"])) for item in found["items"]
        ]
        show_table(("ID", "USER", "QUESTION", "CHOICES"), rows, empty="No question waits.")

    run(work, as_json=as_json)


def answer(
    question_id: Annotated[str, typer.Argument(help="The question's id; see 'steward questions'.")],
    text: Annotated[str, typer.Argument(help="Your answer.")],
    as_json: JsonFlag = False,
) -> None:
    """Answer a question; whoever asked gets it when it asks again.

    \b
    Example: steward answer 3f2a9c1d7b4e "The one in Rome."
    """

    async def work() -> None:
        async with connect() as api:
            answered = await api.post(route("questions", question_id, "answer"), {"answer": text})
        show_json(answered) if as_json else say("Answered.")

    run(work, as_json=as_json)


async def settle_question(
    api: Api, result: dict[str, Any], call: tuple[str, dict[str, Any]], *, as_json: bool
) -> dict[str, Any]:
    """At a terminal, ask what a call wants to know and make it again; elsewhere the question waits."""
    if result.get("error_code") != ErrorCode.HUMAN_INPUT_PENDING or as_json or not at_terminal():
        return result
    text = typer.prompt(result["data"]["question"])
    await api.post(route("questions", result["data"]["question_id"], "answer"), {"answer": text})
    return await api.post(*call)


def register(app: typer.Typer) -> None:
    app.command()(questions)
    app.command()(answer)
