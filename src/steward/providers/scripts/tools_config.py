"""tools.json: the Python tools of a workspace.

Owns the file's shape, its validation with file, line and fix, and its replacement. Does not own running
the scripts (scripts.py) or the order of writers (registry_writer.py).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, cast

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from steward.contract.errors import ConflictError, ErrorCode, InputError, InvalidSchemaError, NotFoundError
from steward.contract.schema import compile_schema
from steward.contract.tool import Origin, RiskLevel, ToolSpec
from steward.providers.jsonfile import JsonDocument, locked, parse_json, read_json, replace_file

FILE_NAME = "tools.json"
MAX_TIMEOUT = 24 * 60 * 60

FIX_MISSING = 'Restore it from a backup, or write {"tools": []} into it to start without Python tools.'


ToolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]


def _any_case(value: Any) -> Any:
    return RiskLevel(value.lower()) if isinstance(value, str) else value


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or path == PurePosixPath():
        raise ValueError("must be a path inside the tools folder")
    return path


class ToolEntry(BaseModel):
    """One tool of tools.json, as it stands in the file and travels through the API."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: ToolName
    description: Annotated[str, Field(min_length=1, max_length=8_000)]
    input_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    output_schema: dict[str, Any] | None = None
    script: Annotated[str, Field(min_length=1, max_length=500)]
    function: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")] | None = None
    parallel_capable: bool = False
    timeout: Annotated[float, Field(gt=0, le=MAX_TIMEOUT)] | None = None
    risk: Annotated[RiskLevel, BeforeValidator(_any_case)] | None = None
    network: bool = False
    env: dict[VariableName, Annotated[str, Field(max_length=8_000)]] = Field(default_factory=dict[str, str])
    files: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list[str])
    category: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    examples: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list[str])

    @field_validator("script")
    @classmethod
    def _stays_inside(cls, script: str) -> str:
        path = _inside(script)
        if path.suffix != ".py":
            raise ValueError("must name a .py file")
        return str(path)

    @field_validator("files")
    @classmethod
    def _stay_inside(cls, files: list[str]) -> list[str]:
        return [str(_inside(file)) for file in files]

    @field_validator("input_schema", "output_schema")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        if schema is not None:
            try:
                compile_schema(schema)
            except InvalidSchemaError as error:
                raise ValueError(error.message) from error
        return schema

    @field_validator("input_schema")
    @classmethod
    def _takes_an_object(cls, schema: dict[str, Any]) -> dict[str, Any]:
        if schema.get("type", "object") != "object":
            raise ValueError('a tool takes an object: use {"type": "object", "properties": ...}')
        return schema

    @field_validator("timeout")
    @classmethod
    def _is_a_number(cls, timeout: float | None) -> float | None:
        if timeout is not None and not math.isfinite(timeout):
            raise ValueError("must be a number of seconds")
        return timeout

    def spec(self, *, implementation: str | None = None, caution: str | None = None) -> ToolSpec:
        """`implementation`: a digest of the script and of what it imports from its folder."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            origin=Origin.LOCAL,
            risk=self.risk,
            timeout=self.timeout,
            parallel=self.parallel_capable,
            examples=tuple(self.examples),
            category=self.category,
            implementation=implementation,
            caution=caution,
        )

    def shape(self) -> dict[str, Any]:
        """As it is written: what was left out stays out."""
        return self.model_dump(mode="json", exclude_unset=True)


@dataclass(frozen=True, slots=True)
class LocalTools:
    """The tools of one tools.json, by name, in the order of the file."""

    tools: Mapping[str, ToolEntry]

    def add(self, entry: ToolEntry) -> "LocalTools":
        if entry.name in self.tools:
            raise ConflictError(
                f"tools.json has a tool '{entry.name}' already.",
                code=ErrorCode.TOOL_DUPLICATE,
                fix="Update it instead, or choose another name.",
            )
        return LocalTools({**self.tools, entry.name: entry})

    def update(self, entry: ToolEntry) -> "LocalTools":
        self.get(entry.name)
        return LocalTools({**self.tools, entry.name: entry})

    def remove(self, name: str) -> "LocalTools":
        self.get(name)
        return LocalTools({known: entry for known, entry in self.tools.items() if known != name})

    def get(self, name: str) -> ToolEntry:
        entry = self.tools.get(name)
        if entry is None:
            raise NotFoundError(
                f"tools.json has no tool '{name}'.",
                code=ErrorCode.TOOL_NOT_FOUND,
                fix="Only Python tools can be changed here; see 'steward tools list'.",
            )
        return entry


@dataclass(frozen=True, slots=True)
class ToolsFileReading:
    """The file as it was read, so that it can be put back byte for byte."""

    document: JsonDocument
    tools: LocalTools


class ToolsFile:
    """`tools/tools.json` below a home, and the scripts beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.path = self.folder / FILE_NAME

    def initialise(self) -> None:
        """For a home that was never used: an empty registry. Never touches a file that is there."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(self.path):
            if not self.path.exists():
                replace_file(self.path, _packed({"tools": []}))

    def load(self) -> LocalTools:
        """Raise `ConfigError` naming file, line and fix unless every entry is valid."""
        return self.read().tools

    def read(self) -> "ToolsFileReading":
        document = read_json(self.path, fix_missing=FIX_MISSING)
        return ToolsFileReading(document, _local_tools(document))

    def write(self, reading: "ToolsFileReading", after: LocalTools) -> None:
        """Replace the file; whatever else stood at the top of it stays there."""
        before = reading.document.value
        top = cast("dict[str, Any]", before) if isinstance(before, dict) else {}
        shapes = [entry.shape() for entry in after.tools.values()]
        replace_file(self.path, _packed({**top, "tools": shapes}))

    def restore(self, reading: "ToolsFileReading") -> None:
        replace_file(self.path, reading.document.text.encode())

    def script_of(self, entry: ToolEntry) -> Path:
        """Where its script is. Raises `InputError` when links lead out of the folder."""
        path = self.folder / entry.script
        if not path.resolve().is_relative_to(self.folder):
            raise InputError(
                f"The script '{entry.script}' of tool '{entry.name}' leads out of {self.folder}.",
                fix="Put the script itself into the tools folder.",
            )
        return path


def parse_tools(text: str, path: Path) -> LocalTools:
    """A tools.json from somewhere else; `path` is what an error calls it."""
    return _local_tools(parse_json(path, text))


def parse_entry(value: Any) -> ToolEntry:
    """One entry from an API or a command. Raises `InputError` naming each wrong field."""
    try:
        return ToolEntry.model_validate_json(orjson.dumps(value))
    except ValidationError as error:
        problems = [{"field": _dotted(e["loc"]), "expected": _words(e)} for e in error.errors()[:5]]
        listed = "; ".join(f"{p['field']}: {p['expected']}" for p in problems)
        raise InputError(
            f"This is not a valid tool: {listed}.",
            fix="docs/tools-json.md describes every field.",
            details={"problems": problems},
        ) from error
    except TypeError as error:
        raise InputError(f"This is not a valid tool: {error}.", fix="Send JSON values only.") from error


def _local_tools(document: JsonDocument) -> LocalTools:
    prefix: tuple[str | int, ...] = ()
    entries: Any = document.value
    if isinstance(entries, dict):
        prefix, entries = ("tools",), entries.get("tools")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if not isinstance(entries, list):
        document.fail(prefix, "a list of tools is expected", fix='Write {"tools": [ ... ]}.')
    tools: dict[str, ToolEntry] = {}
    for index, value in enumerate(entries):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        entry = _entry(document, (*prefix, index), value)
        if entry.name in tools:
            document.fail(
                (*prefix, index, "name"),
                f"the tool '{entry.name}' stands here twice",
                fix="Rename or remove one.",
            )
        tools[entry.name] = entry
    return LocalTools(tools)


def _entry(document: JsonDocument, place: tuple[str | int, ...], value: Any) -> ToolEntry:
    try:
        # Validated as JSON, where a list is not a tuple and "reversible" is an enum's value.
        return ToolEntry.model_validate_json(orjson.dumps(value))
    except ValidationError as error:
        first = error.errors()[0]
        name = value.get("name") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        tool = f"tool '{name}': " if isinstance(name, str) else ""
        document.fail(
            (*place, *first["loc"]),
            f"{tool}{_dotted(first['loc'])}: {_words(first)}",
            fix="docs/tools-json.md describes every field.",
        )


def _dotted(place: Sequence[str | int]) -> str:
    return ".".join(map(str, place)) or "entry"


def _words(error: Mapping[str, Any]) -> str:
    words = str(error["msg"]).removeprefix("Value error, ").removesuffix(".")
    return "this field is unknown" if error["type"] == "extra_forbidden" else words[:1].lower() + words[1:]


def _packed(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
