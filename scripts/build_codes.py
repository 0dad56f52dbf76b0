"""Writes the codes of countries, languages and currencies with the English names that people say for them.

    uv run --with babel python scripts/build_codes.py

The names are the Unicode CLDR's, by Babel; the file is src/steward/language/data/codes.json.
"""

import json
from pathlib import Path

from babel import Locale
from babel.numbers import get_currency_name, get_currency_symbol, get_territory_currencies

OUT = Path(__file__).parents[1] / "src/steward/language/data/codes.json"
ENGLISH = Locale("en")
# What people say without naming whose it is.
SHORT = {"dollar": "USD", "pound": "GBP", "franc": "CHF", "rupee": "INR", "peso": "MXN", "won": "KRW"}


def countries() -> dict[str, str]:
    found = {
        name.lower(): code for code, name in ENGLISH.territories.items() if len(code) == 2 and code.isalpha()
    }
    also = {
        "usa": "US",
        "us": "US",
        "america": "US",
        "uk": "GB",
        "britain": "GB",
        "great britain": "GB",
        "england": "GB",
    }
    return {**found, **also, "turkey": "TR", "czech republic": "CZ", "holland": "NL"}


def languages() -> dict[str, str]:
    return {name.lower(): code for code, name in ENGLISH.languages.items() if len(code) == 2}


def currencies() -> dict[str, str]:
    used = {
        code
        for country in ENGLISH.territories
        if len(country) == 2
        for code in get_territory_currencies(country)
    }
    names: dict[str, str] = {}
    last: dict[str, set[str]] = {}
    for code in sorted(used):
        for count in (None, 1, 2):
            name = get_currency_name(code, count=count, locale="en").lower()
            names[name] = code
            last.setdefault(name.split()[-1], set()).add(code)
    alone = {word: codes.pop() for word, codes in last.items() if len(codes) == 1}
    short = {form: code for word, code in SHORT.items() for form in (word, f"{word}s")}
    symbols = {get_currency_symbol(code, locale="en"): code for code in sorted(used)}
    return {**alone, **short, **names, **{sign: code for sign, code in symbols.items() if len(sign) == 1}}


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    made = {"country": countries(), "language": languages(), "currency": currencies()}
    OUT.write_text(json.dumps(made, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")
