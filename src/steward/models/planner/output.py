"""A structured answer, where an agent wants one: the planner's facts put into its schema by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai import ToolDefinition

from steward.models.planner.decisions import Ask, Tell
from steward.models.planner.dialogue import Step
from steward.models.planner.parameters import Parameter, ParameterKind, parameters_of, type_of

_EMPTY: Mapping[ParameterKind, Any] = {
    ParameterKind.TEXT: "",
    ParameterKind.DATE: "",
    ParameterKind.IDENTIFIER: "",
    ParameterKind.NUMBER: 0,
    ParameterKind.BOOLEAN: False,
    ParameterKind.LIST: [],
    ParameterKind.OBJECT: {},
}


def structured(tool: ToolDefinition, decision: Ask | Tell, steps: Sequence[Step]) -> dict[str, Any]:
    """Arguments for an output tool. Text goes to the field named for it, or to the first text there is."""
    text = decision.text if isinstance(decision, Tell) else decision.question
    calls = [{"tool": step.tool, "arguments": dict(step.arguments)} for step in steps]
    facts: dict[str, Any] = {
        "answer": text,
        "confidence": decision.confidence if isinstance(decision, Tell) else 0.0,
        "reasoning": _reasoning(steps),
        "tool_calls": calls,
    }
    parameters = parameters_of(tool.parameters_json_schema)
    values: dict[str, Any] = {}
    for parameter in parameters:
        fact = facts.get("_".join(parameter.words))
        if fact is not None and _fits(fact, parameter):
            values[parameter.name] = fact
        elif parameter.required:
            values[parameter.name] = _empty(parameter)
    if text not in values.values():
        first = next((each for each in parameters if each.kind is ParameterKind.TEXT), None)
        if first is not None:
            values[first.name] = text
    return values


def _reasoning(steps: Sequence[Step]) -> str:
    if not steps:
        return "No tool was called."
    return " ".join(f"Called {step.tool}: {'failed' if step.failure else 'worked'}." for step in steps)


def _fits(fact: Any, parameter: Parameter) -> bool:
    wanted = {str: "string", float: "number", list: "array"}[type(fact)]
    return type_of(parameter.schema) == wanted


def _empty(parameter: Parameter) -> Any:
    return parameter.choices[0] if parameter.choices else _EMPTY[parameter.kind]
