"""What to say about a query besides its results: whether it was a good one, and how to ask better.

Suggestions come from the corpus itself, so that following one always finds something.
"""

from collections.abc import Sequence

from steward.knowledge.model import Collection, Hit, QueryRefinement, Refinement
from steward.knowledge.ports import KnowledgeStore
from steward.knowledge.terms import terms

_SUGGESTIONS = 5
WEAK = 0.25  # relevance below which an answer is only loosely related
_ABOUT = 0.75  # of the best one's relevance
_SPREAD = 6  # documents that answer about equally well before a query counts as too broad


async def judge(
    store: KnowledgeStore, query: str, hits: Sequence[Hit], collections: Sequence[Collection]
) -> QueryRefinement:
    ids = [collection.id for collection in collections]
    words = list(dict.fromkeys(terms(query)))
    if not any(collection.chunks for collection in collections):
        return QueryRefinement(
            status=Refinement.CLARIFY,
            message="There is nothing to search yet: ingest documents first.",
        )
    if not hits:
        return QueryRefinement(
            status=Refinement.CLARIFY,
            message="Nothing relevant was found. Ask in other words, or look into one of these sections.",
            suggestions=tuple(await store.header_paths(ids, limit=_SUGGESTIONS)),
        )
    if not words:
        return QueryRefinement(
            status=Refinement.CLARIFY,
            message="The query has no word to search for. Name a thing, a place or an action.",
            suggestions=tuple(await store.header_paths(ids, limit=_SUGGESTIONS)),
        )
    broad = _broad(words, hits)
    if not broad and hits[0].relevance >= WEAK:
        return QueryRefinement(
            status=Refinement.OPTIMAL, message="The query is specific enough.", suggestions=()
        )
    related = tuple(await store.related_terms(ids, words, limit=_SUGGESTIONS))
    if broad:
        return QueryRefinement(
            status=Refinement.TOO_BROAD,
            message="Many passages fit about equally well. Add a detail"
            + (f", for example: {', '.join(related[:3])}." if related else "."),
            suggestions=related,
        )
    return QueryRefinement(
        status=Refinement.CLARIFY,
        message="Only loosely related passages were found. Say more precisely what you need.",
        suggestions=related,
    )


def _broad(words: Sequence[str], hits: Sequence[Hit]) -> bool:
    """Few words, and no passage that stands out."""
    close = [hit for hit in hits if hit.relevance >= hits[0].relevance * _ABOUT]
    return len(words) <= 2 and len({hit.document_id for hit in close}) >= _SPREAD
