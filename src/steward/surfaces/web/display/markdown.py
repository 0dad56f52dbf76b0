"""Markdown of other people's making as markup that runs nothing and fetches nothing.

Owns what is let through: words, lists, tables, code, links that a person follows. HTML stays text; pictures
become links; of links to other than http, https, mailto and our own pages only the words stay. Words that
were searched for can be marked.
"""

from collections.abc import Callable, MutableMapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from steward.surfaces.web.display.passages import marked

SCHEMES = frozenset({"http", "https", "mailto"})
LONGEST = 200_000  # characters; more is shown as it stands
RenderRule = Callable[[RendererHTML, Sequence[Token], int, OptionsDict, MutableMapping[str, Any]], str]
KEPT = 256  # texts: a conversation is drawn again with each turn


@lru_cache(maxsize=KEPT)
def render(text: str, query: str = "", *, wrapped: bool = False) -> Markup:
    """The text drawn, with the words of `query` marked; in a `wrapped` text a line's end means nothing."""
    if len(text) > LONGEST:
        return Markup("<pre>{}</pre>").format(text)
    drawn = (_WRAPPED if wrapped else _PARSER).render(text, {"query": query})
    return Markup(drawn)  # noqa: S704 - the parser escapes whatever is not its own markup


def _allowed(url: str) -> bool:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    own = not parts.scheme and not parts.netloc and url.startswith(("/", "#")) and not url.startswith("//")
    return own or parts.scheme.lower() in SCHEMES


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """A picture from elsewhere tells its owner that it was looked at: here it is a link."""
    token = tokens[index]
    words = renderer.renderInlineAsText(token.children or [], options, env) or "picture"
    address = str(token.attrs.get("src", ""))
    if not _allowed(address):
        return str(escape(words))
    return str(Markup('<a href="{}" rel="noopener noreferrer" target="_blank">{}</a>').format(address, words))


def _drawn(change: Callable[[Token], None] | None = None, *, before: str = "", after: str = "") -> RenderRule:
    """A rule that draws a token as usual, after a change to it, and with something around it."""

    def rule(
        renderer: RendererHTML,
        tokens: Sequence[Token],
        index: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        if change is not None:
            change(tokens[index])
        return f"{before}{renderer.renderToken(tokens, index, options, env)}{after}"

    return rule


def _link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """A link to elsewhere opens beside the page and does not tell where it was followed; of one that may not
    be followed the words stay."""
    token = tokens[index]
    address = str(token.attrs.get("href", ""))
    if not _allowed(address):
        token.attrs = {}
        closing = next(each for each in tokens[index:] if each.type == "link_close")
        token.tag = closing.tag = "span"
    elif not address.startswith(("/", "#")):
        token.attrSet("rel", "noopener noreferrer")
        token.attrSet("target", "_blank")
    return renderer.renderToken(tokens, index, options, env)


def _text(
    renderer: RendererHTML,  # noqa: ARG001 - the parser's own signature
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,  # noqa: ARG001
    env: MutableMapping[str, Any],
) -> str:
    text = tokens[index].content
    return marked(text, env["query"]) if env.get("query") else str(escape(text))


def _copied(
    renderer: RendererHTML,  # noqa: ARG001 - the parser's own signature
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,  # noqa: ARG001
    env: MutableMapping[str, Any],  # noqa: ARG001
) -> str:
    """A block of code, with a way to take it along."""
    block = Markup(
        '<div class="coded"><pre tabindex="0"><code>{}</code></pre>'
        '<button type="button" data-copy>Copy</button></div>\n'
    )
    return str(block.format(tokens[index].content))


def _aligned(token: Token) -> None:
    """Alignment as a class: the content policy knows no inline style."""
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrSet("class", f"cell-{style.rpartition(':')[2]}")


def _lowered(token: Token) -> None:
    """Below the page's own headings."""
    token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"


def _known(url: str) -> bool:  # noqa: ARG001 - the parser's own signature
    return True


def _parser(*, breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": breaks})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = _known  # whether it is followed is decided where it is drawn
    for name, rule in {
        "image": _image,
        "link_open": _link,
        "text": _text,
        "fence": _copied,
        "code_block": _copied,
        "table_open": _drawn(before='<div class="scroll" tabindex="0">'),
        "table_close": _drawn(after="</div>"),
        "th_open": _drawn(_aligned),
        "td_open": _drawn(_aligned),
        "heading_open": _drawn(_lowered),
        "heading_close": _drawn(_lowered),
    }.items():
        parser.add_render_rule(name, rule)
    return parser


_PARSER, _WRAPPED = _parser(breaks=True), _parser(breaks=False)
