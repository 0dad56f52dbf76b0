"""What a verb is for: everyday verbs that mean the same form a group."""

from functools import lru_cache

from steward.selection.definitions import name_words
from steward.selection.lexical import stem

_GROUPS = (
    "create add make new insert register start schedule plan put write jot note record append generate open",
    "remove delete rid erase drop discard destroy cancel forget clear purge eliminate",
    """list show display enumerate view see browse get read fetch retrieve load download obtain tell give
    find search lookup look query locate discover seek check""",
    "change update edit modify rename alter adjust set move amend revise reschedule postpone",
    "finish complete done close resolve accomplish tick mark",
    "send mail email post message notify deliver forward share publish",
    "compute calculate count sum convert translate measure evaluate estimate analyse analyze",
    "store save remember keep archive persist memorize",
    "run execute launch trigger invoke perform",
    "stop halt pause end quit abort",
)
_FIRST = 6  # words in which a verb is looked for


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    return {stem(word): number for number, group in enumerate(_GROUPS, 1) for word in group.split()}


def doing(*texts: str) -> int:
    """The group of the first verb in the first of these texts that has one; 0 for none."""
    known = _numbers()
    for text in texts:
        for word in name_words(text).split()[:_FIRST]:
            number = known.get(stem(word))
            if number:
                return number
    return 0
