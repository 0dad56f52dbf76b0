"""What a function becomes that is switched off, and how it gets there."""

import ast
import asyncio
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

PREFIX = "STEWARD_MUTATION"


@dataclass(frozen=True, slots=True)
class Switch:
    """`off` is `module:function`, `module:Class.method` or `file PATH`. Calling it raises from then on.

    Or it `gives` that literal; or it `passes` on what it was given first; or it is called `without` hearing
    of the parameter (or field) of that name, or after it `waits` for so many seconds. Of a file, who reads it
    does not find the words that it is `without`.
    """

    off: str = ""
    gives: str = ""
    passes: bool = False
    without: str = ""
    waits: float = 0.0

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Switch":
        told = {name: environment.get(f"{PREFIX}_{name.upper()}", "") for name in cls.__slots__}
        return cls(
            off=told["off"],
            gives=told["gives"],
            passes=bool(told["passes"]),
            without=told["without"],
            waits=float(told["waits"] or 0),
        )

    def environment(self) -> dict[str, str]:
        told = {name: getattr(self, name) for name in self.__slots__}
        return {
            f"{PREFIX}_{name.upper()}": "1" if value is True else str(value)
            for name, value in told.items()
            if value
        }

    @property
    def file(self) -> str:
        return self.off.removeprefix("file ") if self.off.startswith("file ") else ""

    @property
    def module(self) -> str:
        return "" if self.file else self.off.partition(":")[0]

    def place(self, module: object) -> tuple[Any, str]:
        """Where the function stands: its owner and its name there. One that is gone is an error."""
        *path, name = self.off.partition(":")[2].split(".")
        owner = module
        for part in path:
            owner = getattr(owner, part)
        getattr(owner, name)
        return owner, name

    def instead(self, real: Callable[..., Any]) -> Callable[..., object]:
        if self.without:
            return self._unheard(real)
        if self.waits:
            return self._delayed(real)
        answer = (lambda *_: ast.literal_eval(self.gives)) if self.gives else _first if self.passes else None
        if answer is None:
            return self._raising
        return _later(answer) if inspect.iscoroutinefunction(real) else lambda *given, **_: answer(*given)

    def _raising(self, *_: object, **__: object) -> None:
        raise RuntimeError(f"{self.off} is switched off")

    def _unheard(self, real: Callable[..., Any]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            named.pop(self.without, None)
            return real(*(self._stripped(each) for each in given), **named)

        return call

    def _stripped(self, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {name: each for name, each in cast("Mapping[str, Any]", value).items() if name != self.without}

    def _delayed(self, real: Callable[..., Any]) -> Callable[..., object]:
        async def later(*given: object, **named: object) -> object:
            await asyncio.sleep(self.waits)
            return await real(*given, **named)

        def call(*given: object, **named: object) -> object:
            time.sleep(self.waits)
            return real(*given, **named)

        return later if inspect.iscoroutinefunction(real) else call


def _first(*given: object) -> object:
    return given[0]


def _later(answer: Callable[..., object]) -> Callable[..., object]:
    async def call(*given: object, **_: object) -> object:
        return answer(*given)

    return call


def hide_words(name: str, words: str) -> Callable[[], None]:
    """Whoever reads this file by `Path.read_text` misses the words, until what is returned is called."""
    path, read = Path(name).resolve(), Path.read_text

    def read_text(self: Path, *given: Any, **named: Any) -> str:
        text = read(self, *given, **named)
        return text.replace(words, "") if self.resolve() == path else text

    Path.read_text = read_text  # type: ignore[method-assign]

    def undo() -> None:
        Path.read_text = read  # type: ignore[method-assign]

    return undo
