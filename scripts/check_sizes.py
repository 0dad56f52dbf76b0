"""Files stay under 600 lines (near 300 is the aim), functions under 50."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILE_LIMIT = 600
FUNCTION_LIMIT = 50


def main() -> int:
    problems: list[str] = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text()
        name = path.relative_to(ROOT)
        if text.count("\n") > FILE_LIMIT:
            problems.append(f"{name}: {text.count(chr(10))} lines (limit {FILE_LIMIT})")
        tree = ast.parse(text)
        if path.name != "__init__.py" and ast.get_docstring(tree) is None:
            problems.append(f"{name}: no docstring that says what it owns")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                length = node.end_lineno - node.lineno + 1
                if length > FUNCTION_LIMIT:
                    problems.append(
                        f"{name}:{node.lineno}: {node.name} has {length} lines (limit {FUNCTION_LIMIT})"
                    )
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
