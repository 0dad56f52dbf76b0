"""Who says what a request needs. Imports Pydantic AI: made when somebody first talks."""

from steward.agents.assistant.model_needs import ModelExtractor
from steward.contract.ports import CapabilityExtractor, Embedder
from steward.models.catalog import Catalog
from steward.selection.capabilities import AbilityKind, LexiconExtractor, lexicon


def extractor_of(models: Catalog, embedder: Embedder) -> CapabilityExtractor | None:
    """The configured language model, with the lexicon behind it; None where the planner answers."""
    if models.offline:
        return None
    names = [entry.capability.name for entry in lexicon() if entry.kind is AbilityKind.SYSTEM]
    return ModelExtractor(models.model, known=names, otherwise=LexiconExtractor(embedder))
