"""Messages made to be read slowly: a piece said again and again up to the longest message, and long lists."""

from collections.abc import Iterator

LONGEST = 31_900  # of a message; 32,000 are taken

PIECES: dict[str, tuple[str, ...]] = {
    "clauses": ("Remind me to a,", "delete a and ", "no wait, ", "no, I meant b, ", "rename a to b and ",
                "move a to friday, ", "if a then b ", "What is a in b? "),
    "dates": ("half past ", "half ", "20 past ", "3rd ", "an hour and a half ", "the day after ", "at 5 ",
              "every second friday ", "from 3 to 5 "),
    "numbers": ("1 ", "1,000 ", "5 kg ", "(1+", "2**", "one hundred and ", "1.2.3.4 "),
    "quotes": ("'a' ", "\u201c", "it's ", "```\n", "> a\n", "'' "),
    "lists": ("- a\n", "1. a\n", "a, ", "a and b, ", "a: b\n", "|a|b|\n", ";"),
    "brackets": ("(", "[a](b) ", '{"a":', "()", "[["),
    "markup": ("What is </p>", "What is <p>a</p> ", "<!--", "&amp;", "**a** ", "<a href='"),
    "replies": ("yes ", "no, ", "the first and ", "all but the first, ", "never mind ", "always "),
    "references": ("that one ", "it and that ", "the one about a ", "my last task ", "them ", "the other "),
    "words": ("a", "a.", "Ab Cd ", "a@b.c ", "http://a ", "/a", "a_b ", "?", "a\t"),
    "unicode": ("a\u0301", "\u200b", "\u202ea", "\u4f60", "\U0001f469\u200d\U0001f467", "\u00df", "\u0130",
                "a\u2028"),
}  # fmt: skip

_WORDS = ("river", "stone", "cloud", "maple", "copper", "window", "garden", "silver", "engine", "pocket",
          "market", "winter", "bridge")  # fmt: skip


def repeated(piece: str) -> str:
    return (piece * (LONGEST // len(piece) + 1))[:LONGEST]


def _told(number: int, count: int) -> str:
    """So many words that no other item of the list has."""
    return " ".join(f"{_WORDS[(number * 7 + at * at) % 13]}{(number * 31 + at) % 97}" for at in range(count))


def lists() -> Iterator[tuple[str, str]]:
    """Wishes enough to fill the message, and each of them long; and as many short ones as are taken apart."""
    for count in (6, 20, 40):
        size = LONGEST // count // 8
        items = [f"add {_told(number, size)}"[: LONGEST // count - 6] for number in range(count)]
        yield f"{count} lines", "\n".join(f"- {item}" for item in items)
        yield f"{count} marks", " ".join(f"{at}. {item}" for at, item in enumerate(items, 1))
        yield f"{count} sentences", ". ".join(item.capitalize() for item in items)
    short = [f"add {_told(number, 2)}" for number in range(40)]
    yield "40 short lines", "\n".join(f"- {item}" for item in short)
    yield "40 short orders", " and ".join(short)


def plain() -> str:
    """As long, of ordinary sentences: what a message of this length costs anyway."""
    words = " ".join(_told(number, 9).capitalize() + "." for number in range(500))
    return f"Here is what I wrote down. {words}"[:LONGEST]
