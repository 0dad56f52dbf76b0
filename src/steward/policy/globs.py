"""Path and name patterns as people write them: `*` stays within a part, `**` crosses '/', `?` is one.

Owns their translation. Everything else in a pattern stands for itself.
"""

from functools import lru_cache

from steward.contract import linear_re as re

_TOKENS = re.compile(r"/\*\*$|\*\*/?|\*|\?|/|[^*?/]+")


@lru_cache(maxsize=1024)
def glob_regex(pattern: str) -> re.Pattern:
    """`folder/**` holds the folder itself too; `**/x` also matches a bare `x`."""
    return re.compile("".join(_translate(token) for token in _TOKENS.findall(pattern)), re.DOTALL)


def _translate(token: str) -> str:
    match token:
        case "/**":
            return r"(?:/.*)?"
        case "**/":
            return r"(?:.*/)?"
        case "**":
            return r".*"
        case "*":
            return r"[^/]*"
        case "?":
            return r"[^/]"
        case _:
            return re.escape(token)


def matches_glob(text: str, pattern: str) -> bool:
    return glob_regex(pattern).fullmatch(text) is not None
