"""A way around a fault of Python 3.11 before 3.11.8 (gh-106905) that failed a test now and then.

Building a syntax tree counts its depth in one place for all threads. A garbage collection in the middle of it
runs finalizers, which let another thread in; when that one builds a tree too (pytest rewriting the asserts
of a module, `inspect.signature`), the first ends with "AST constructor recursion depth mismatch". Without a
collection nobody else gets in.
"""

import ast
import gc
import sys
import threading
from typing import Any

AFFECTED = (3, 11) <= sys.version_info < (3, 11, 8)
_PARSE = ast.parse
_TURN = threading.RLock()


def _undisturbed(*arguments: Any, **options: Any) -> Any:
    with _TURN:
        collecting = gc.isenabled()
        gc.disable()
        try:
            return _PARSE(*arguments, **options)
        finally:
            if collecting:
                gc.enable()


def parse_undisturbed() -> None:
    if AFFECTED:
        ast.parse = _undisturbed
