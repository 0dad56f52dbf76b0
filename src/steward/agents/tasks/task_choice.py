"""Which task somebody means: by its name, its place in a list, its id, or as 'it'.

Chooses among the records that a list tool returned; what is then done to one is not decided here.
"""

from collections.abc import Callable, Sequence

from steward.contract import linear_re as re
from steward.language.references import Reference
from steward.models.planner.readers import InterpretedCall, Meant, Mention, Record
from steward.tasks.matching import matching, stems

HELP_LISTING = {"limit": 100}
_SHORTEST_ID = 6
_BARE_DONE = frozenset({"done", "finished", "completed", "complete", "all done"})
_NUMBERS = re.compile(r"[1-9]\d?(?:(?:\s*,\s*|\s+and\s+|\s*&\s*)[1-9]\d?)*")


def touch_reading(
    tool: str, reference: Reference, *, wanted: bool | None, certainty: float
) -> InterpretedCall:
    """`wanted` is whether the task meant should be done already; open ones come first otherwise."""
    if reference.text.lower() in _BARE_DONE:  # "done": with what was spoken of
        reference = Reference("", pronoun=True)
    pointed = reference.pronoun and not reference.text and (reference.plural or not reference.everything)
    # "mark 1 and 3 as done": bare numbers are places, as nobody names a task like that.
    places = reference.ordinals or (
        tuple(int(each) for each in re.findall(r"\d+", reference.text))
        if _NUMBERS.fullmatch(reference.text)
        else ()
    )
    mention = Mention(
        text=reference.text,
        places=places,
        it=pointed,
        count=0 if not reference.plural else 2 if reference.both else -1,
        among=None
        if (pointed and not reference.everything) or places
        else _chooser(reference, wanted=wanted),
    )
    return InterpretedCall(
        tool=tool, mentions={"task_id": mention}, listing=HELP_LISTING, certainty=certainty
    )


def _chooser(reference: Reference, *, wanted: bool | None) -> Callable[[Sequence[Record]], Meant]:
    def among(records: Sequence[Record]) -> Meant:
        if reference.everything:
            every = _everything(reference, records, wanted=wanted)
            return Meant(every, every=not reference.both or len(every) == 2)
        by_id = [each for each in records if _is_id(reference.text, str(each.get("id", "")))]
        if by_id:
            return Meant(by_id)
        groups = _by_state(records, wanted)
        for group in groups:
            found = matched(reference.text, group, hint=reference.hint)
            if found:
                return Meant(found)
        return _each_part(reference, groups)

    return among


def _is_id(text: str, task_id: str) -> bool:
    given = text.strip().lower()
    return len(given) >= _SHORTEST_ID and (given == task_id or (given.isalnum() and task_id.endswith(given)))


def _by_state(records: Sequence[Record], wanted: bool | None) -> list[list[Record]]:
    """Tasks in the state that is likely meant first, the others only where none of those fits."""
    done = [each for each in records if each.get("completed")]
    still = [each for each in records if not each.get("completed")]
    return [done, still] if wanted else [still, done]


def _everything(reference: Reference, records: Sequence[Record], *, wanted: bool | None) -> list[Record]:
    state = reference.completed if reference.completed is not None else wanted
    chosen = [each for each in records if state is None or bool(each.get("completed")) is state]
    return matched(reference.text, chosen) if reference.text else chosen


def matched(text: str, records: Sequence[Record], *, hint: str = "") -> list[Record]:
    return matching(text, records, title=lambda record: str(record.get("title", "")), hint=hint)


def matched_in_part(text: str, records: Sequence[Record]) -> list[Record]:
    """Tasks all of whose words were said: "the dentist appointment" for "dentist"."""
    said = stems(text)
    return [each for each in records if (own := stems(str(each.get("title", "")))) and own <= said]


def _each_part(reference: Reference, groups: Sequence[Sequence[Record]]) -> Meant:
    """ "milk and eggs": one task for each piece, where each piece means exactly one."""
    chosen: list[Record] = []
    for part in reference.parts:
        tried = [matched(part, group) for group in groups]
        found = next((hits for hits in tried if hits), tried[-1])
        if len(found) != 1:
            return Meant(())
        chosen += [each for each in found if each not in chosen]
    return Meant(chosen, every=True)
