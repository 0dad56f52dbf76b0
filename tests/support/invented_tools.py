"""Tools that are made up anew for every seed, of everyday words that a reader of English knows."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.door import Door, tool

from steward.contract.tool import Effect

_NOUNS = ["ticket", "invoice", "recipe", "coupon", "poster", "voucher", "folder", "badge", "contract"]
_VERBS = ["archive", "publish", "verify", "approve", "freeze", "print"]


def made_up_words(luck: random.Random, count: int) -> list[str]:
    return luck.sample(_NOUNS, count)


def text(**properties: Any) -> dict[str, Any]:
    required = [name for name, schema in properties.items() if "default" not in schema]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


STRING = {"type": "string"}


@dataclass
class Invented:
    """A small made-up world: things with titles that can be made, looked at, changed and removed."""

    seed: int
    noun: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    things: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.luck = random.Random(self.seed)
        self.noun, self.other = made_up_words(self.luck, 2)
        self.verb = self.luck.choice(_VERBS)

    def thing(self, title: str) -> dict[str, Any]:
        thing = {"id": f"{self.luck.randrange(16**6):06x}", "title": title}
        self.things.append(thing)
        return thing

    def recorded(self, name: str, function: Callable[..., Any], *, reads: bool = False, **spec: Any) -> Any:
        def run(**arguments: Any) -> Any:
            self.calls.append((name, arguments))
            return function(**arguments)

        effect = Effect.READS if reads else Effect.WRITES_STORE
        run.__doc__ = spec.pop("description")
        return tool(run, name=name, effect=effect, **spec)

    async def door(self, *more: Any) -> Door:
        noun = self.noun
        key = f"{noun}_id"
        return await Door().with_tools(
            self.recorded(
                f"create_{noun}",
                self.thing,
                description=f"Create a {noun} with a title.",
                input_schema=text(title=STRING),
            ),
            self.recorded(
                f"list_{noun}s",
                lambda: {f"{noun}s": list(self.things)},
                description=f"List every {noun} there is.",
                input_schema=text(),
                reads=True,
            ),
            self.recorded(
                f"{self.verb}_{noun}",
                lambda **given: {"message": f"{self.verb} done", "id": given[key]},
                description=f"{self.verb.capitalize()} a {noun}.",
                input_schema=text(**{key: STRING}),
            ),
            self.recorded(
                f"rename_{noun}",
                lambda **given: {"id": given[key], "title": given["title"]},
                description=f"Change the title of a {noun}.",
                input_schema=text(**{key: STRING, "title": STRING}),
            ),
            self.recorded(
                f"delete_{noun}",
                self._delete,
                description=f"Delete a {noun} for good.",
                input_schema=text(**{key: STRING}),
            ),
            *more,
        )

    def _delete(self, **given: Any) -> dict[str, Any]:
        [gone] = [each for each in self.things if each["id"] in given.values()]
        self.things.remove(gone)
        return {"deleted": gone["title"]}
