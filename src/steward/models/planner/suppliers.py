"""Which tools can supply a value that another tool needs: the rule behind listing before touching."""

from collections.abc import Iterable

from steward.models.planner.parameters import Parameter, ParameterKind
from steward.models.planner.ranking import KnownTool
from steward.models.planner.things import offers
from steward.models.planner.words import split_name, stem, stems

_LOOKING = {"list": 0, "find": 1, "read": 2}


def suppliers(wanting: KnownTool, parameter: Parameter, tools: Iterable[KnownTool]) -> list[KnownTool]:
    """Tools that only look and whose results can hold such a value, the likeliest first."""
    noun = set(parameter.noun) or (wanting.name_stems - {stem(w) for w in split_name(wanting.name)[:1]})
    identifier = parameter.kind is ParameterKind.IDENTIFIER
    wanted = set(stems(parameter.label))

    def declares(tool: KnownTool) -> bool:
        return offers(parameter, tool.returns)

    def named_after(tool: KnownTool) -> bool:
        if identifier:
            return bool(noun & tool.name_stems)
        return bool(wanted) and wanted <= tool.name_stems  # "to" says nothing: no tool is named after it

    found = [
        tool
        for tool in tools
        if tool.reads and tool.name != wanting.name and (declares(tool) or named_after(tool))
    ]
    return sorted(
        found, key=lambda tool: (not declares(tool), _LOOKING.get(tool.intention or "", 3), tool.name)
    )
