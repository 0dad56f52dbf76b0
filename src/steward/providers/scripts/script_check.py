"""What can be said about a script without running it: does it parse, does it have its entry function.

Owns static checks at registration. What only running can show is a call's result, not a check's.
"""

import ast
from collections.abc import Iterator

from steward.contract.errors import InputError

ENTRY_POINTS = ("run", "main")


def check_script(name: str, source: str, function: str | None) -> None:
    """Raise `InputError` with the line when the script can never be called."""
    try:
        module = ast.parse(source, filename=name)
    except (SyntaxError, ValueError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise InputError(
            f"{name}{line}: {getattr(error, 'msg', error)}.", fix="Correct the script."
        ) from error
    bound = set(_bound_names(module))
    wanted = (function,) if function else ENTRY_POINTS
    if "*" not in bound and not bound.intersection(wanted):
        raise InputError(
            f"{name} has no function {' or '.join(wanted)}.",
            fix="Define run(**arguments) or main(arguments), or name another one as 'function'.",
        )


def _bound_names(module: ast.Module) -> Iterator[str]:
    """Names at the top of the module, inside `if` and `try` too."""
    pending: list[ast.AST] = list(module.body)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case _:
                pending.extend(ast.iter_child_nodes(node))
