"""Parts that are installed by name: what each brings, whether it is there, what to say where it is not."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from steward.contract.errors import ErrorCode

PACKAGE = "steward-agents"


@dataclass(frozen=True, slots=True)
class Extra:
    brings: str  # what a person gets
    module: str  # what is there where it is installed

    @property
    def installed(self) -> bool:
        try:
            return find_spec(self.module) is not None
        except ModuleNotFoundError:  # what it is part of is not there either
            return False


EXTRAS: Mapping[str, Extra] = {
    "documents": Extra("PDF, DOCX and HTML", "kreuzberg"),
    "search": Extra("search in the web", "ddgs"),
    "openai": Extra("models of OpenAI, Azure and Ollama", "openai"),
    "otlp": Extra("sending spans and numbers over OTLP", "opentelemetry.exporter.otlp.proto.grpc"),
    "speed": Extra("the faster run times", "onnxruntime"),
}
"""All of them together are the extra `all`."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What an error says, wherever a feature is used without its extra."""

    message: str
    fix: str
    code: str = ErrorCode.EXTRA_MISSING


def missing(extra: str, feature: str) -> Missing:
    return Missing(
        message=f"{feature} needs '{extra}', which is not installed.",
        fix=f'Run: pip install "{PACKAGE}[{extra}]"',
    )
