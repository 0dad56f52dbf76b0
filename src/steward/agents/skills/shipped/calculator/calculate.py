"""Evaluates arithmetic exactly, from an expression or a simple phrase. Needs only the standard library."""

import ast
import math
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

LARGEST = 5_000  # digits of a power, terms of a sequence
OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Any]] = {
    ast.Add: Fraction.__add__,
    ast.Sub: Fraction.__sub__,
    ast.Mult: Fraction.__mul__,
    ast.Div: Fraction.__truediv__,
    ast.FloorDiv: Fraction.__floordiv__,
    ast.Mod: Fraction.__mod__,
}
WORDS = (
    (r"\b(?:what(?:'s| is| are)|calculate|compute|how much is|work out|evaluate|tell me|please|the)\b", " "),
    (r"(\d[\d.]*)\s*(?:percent|%)\s+of\s+", r"(\1/100)*"),
    (r"\bfirst (\d+) primes?(?: numbers?)?", r"primes(\1)"),
    (r"\bfirst (\d+) fibonacci(?: numbers?)?", r"fibonaccis(\1)"),
    (r"(\d+)(?:st|nd|rd|th) fibonacci(?: number)?", r"fibonacci(\1)"),
    (r"(\d+)(?:st|nd|rd|th) prime(?: number)?", r"prime(\1)"),
    (r"\bfactorial of (\d+)", r"factorial(\1)"),
    (r"\bsquare root of ([\d.]+)", r"sqrt(\1)"),
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"\b(?:times|multiplied by)\b|\u00d7", "*"),
    (r"\b(?:divided by|over)\b|\u00f7", "/"),
    (r"\bto the power of\b|\^", "**"),
    (r"(?<=\d),(?=\d{3})", ""),
)


def primes(count: Fraction) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < min(int(count), LARGEST):
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
        number += 1
    return found


def fibonaccis(count: Fraction) -> list[int]:
    found = [0, 1]
    wanted = min(int(count), LARGEST)
    while len(found) <= wanted:
        found.append(found[-1] + found[-2])
    return found[1 : wanted + 1]


def factorial(number: Fraction) -> int:
    return math.factorial(min(int(number), LARGEST))


def divisor(one: Fraction, other: Fraction) -> int:
    return math.gcd(int(one), int(other))


def rounded(number: Fraction, digits: Fraction = Fraction(0)) -> float:
    return round(float(number), int(digits))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "factorial": factorial,
    "gcd": divisor,
    "round": rounded,
    "abs": abs,
    "primes": primes,
    "fibonaccis": fibonaccis,
}
LAST_OF: dict[str, Callable[[Fraction], list[int]]] = {"prime": primes, "fibonacci": fibonaccis}


def value(node: ast.AST) -> Any:  # noqa: PLR0911 - one line a kind of expression
    match node:
        case ast.Expression():
            return value(node.body)
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub()):
            return -value(node.operand)
        case ast.BinOp(op=ast.Pow()):
            base, exponent = value(node.left), value(node.right)
            if abs(exponent) * math.log10(abs(base) + 1) > LARGEST:
                raise ValueError("that number is too large")
            return base**exponent
        case ast.BinOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](Fraction(value(node.left)), Fraction(value(node.right)))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(value, node.args))
        case ast.Call(func=ast.Name(id=name), args=[place]) if name in LAST_OF:
            return LAST_OF[name](value(place))[-1]
        case _:
            raise ValueError("only numbers, brackets, + - * / // % ** and a few functions are understood")


def shown(result: Any) -> str:
    if isinstance(result, list):
        return ", ".join(map(str, cast("list[int]", result)))
    if isinstance(result, Fraction):
        return str(result.numerator) if result.denominator == 1 else f"{float(result):.12g}"
    return f"{result:.12g}" if isinstance(result, float) else str(result)


def main(said: str) -> int:
    text = said.strip().rstrip("?.! ")
    for pattern, instead in WORDS:
        text = re.sub(pattern, instead, text, flags=re.IGNORECASE)
    try:
        result = value(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, TypeError, IndexError) as error:
        reason = "it is no calculation" if isinstance(error, SyntaxError) else str(error)
        sys.exit(f"I cannot calculate '{said}': {reason}")
    sys.stdout.write(f"{text.strip()} = {shown(result)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
