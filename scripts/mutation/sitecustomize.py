"""Switches a function off in every program that a test starts: `make mutate` puts it on the path."""

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from switching import Switch, hide_words

SWITCH = Switch.of(os.environ)


class _Loader(importlib.abc.Loader):
    def __init__(self, real: importlib.abc.Loader) -> None:
        self._real = real

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._real.exec_module(module)
        owner, name = SWITCH.place(module)
        setattr(owner, name, SWITCH.instead(getattr(owner, name)))


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != SWITCH.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


if SWITCH.file:
    hide_words(SWITCH.file, SWITCH.without)
elif SWITCH.module:
    sys.meta_path.insert(0, _Finder())
