"""What the suites of `steward eval` need of the product: its own way from words to the task tools."""

from collections.abc import Callable
from datetime import datetime


def task_meanings(now: datetime) -> Callable[[str], str | None]:
    """Which task tool an utterance means, as a conversation with the task assistant reads it.

    `asked` where the assistant would ask back; None where nothing is meant.
    """
    # Imported here: Pydantic AI takes seconds to load.
    from steward.agents.tasks.task_reader import NAME, TaskReader  # noqa: PLC0415
    from steward.models.embedding import MiniLMEmbedder  # noqa: PLC0415
    from steward.models.planner.bench import Bench  # noqa: PLC0415
    from steward.models.reader import TextsApart, taught_reader  # noqa: PLC0415
    from steward.selection.fit import FitJudge  # noqa: PLC0415
    from steward.servers.tasks import definitions  # noqa: PLC0415

    judge = FitJudge(TextsApart(), together=taught_reader())
    bench = Bench(MiniLMEmbedder(), now=now, judge=judge, readers={NAME: TaskReader()})
    tools = [{**each, "reader": NAME} for each in definitions()]
    return lambda text: bench.meant(text, tools)
