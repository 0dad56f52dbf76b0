"""Prints a summary of a CSV file: rows, and what is in each column. Needs the standard library alone."""

import csv
import sys
from collections import Counter
from pathlib import Path

SHOWN = 5


def numbers(values: list[str]) -> list[float] | None:
    try:
        return [float(value.replace(",", "")) for value in values]
    except ValueError:
        return None


def column(name: str, values: list[str]) -> str:
    filled = [value.strip() for value in values if value.strip()]
    missing = f", {len(values) - len(filled)} missing" if len(filled) < len(values) else ""
    found = numbers(filled) if filled else None
    if found:
        mean = sum(found) / len(found)
        said = f"numbers, min {min(found):g}, mean {mean:g}, max {max(found):g}, sum {sum(found):g}"
    else:
        common = ", ".join(f"{value} ({count})" for value, count in Counter(filled).most_common(SHOWN))
        said = f"{len(set(filled))} different values, most common: {common}" if filled else "empty"
    return f"- {name}: {said}{missing}"


def main(path: str) -> int:
    try:
        text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        sys.exit(f"{path} cannot be read: {error.strerror}")
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:10_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    rows = [row for row in csv.reader(text.splitlines(), dialect) if any(row)]
    if not rows:
        sys.exit(f"{path} is empty")
    head, body = rows[0], rows[1:]
    lines = [f"{Path(path).name}: {len(body)} rows, {len(head)} columns"]
    lines += [
        column(name, [row[at] if at < len(row) else "" for row in body]) for at, name in enumerate(head)
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
