"""Says what a person does by saying something: implements `ReadActs` of the room language.

The taught reader looks at the words beside a description of talk, as it looks at them beside a tool; three
rows of weights turn what it makes of the whole into shares. They are fitted apart, in a minute on one core
(scripts/reader/fit_acts.py), because a pair alone says only how near talk it is, not how near asking.
"""

from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from steward.language.acts import ActShares
from steward.models.minilm import DATA
from steward.models.reader import taught_reader

WEIGHTS = DATA / "acts.npy"
NAME = "only_talk"
ABOUT = (
    "The person only talks: greets, thanks, moans, jokes, remarks, gives an opinion, tells news or "
    "takes something back. Nothing is to be done, kept or looked up."
)
REMEMBERED = 256  # texts: several rooms ask about the same one in a turn


@lru_cache(maxsize=REMEMBERED)
def acts_in(said: str) -> ActShares:
    """CPU-bound: async callers run it in a thread."""
    (seen,) = seen_beside_talk([said])
    weights = _weights()
    raised = seen @ weights[:-1] + weights[-1]
    shares = np.exp(raised - raised.max())
    talk, wish, ask = (shares / shares.sum()).tolist()
    return ActShares(talk, wish, ask)


def seen_beside_talk(texts: Sequence[str]) -> NDArray[np.float32]:
    """What the reader makes of each text beside the description of talk, as one row of numbers."""
    reader = taught_reader()
    return reader.seen(texts, reader.tool(NAME, ABOUT, {}))


@cache
def _weights() -> NDArray[np.float32]:
    return np.load(WEIGHTS)
