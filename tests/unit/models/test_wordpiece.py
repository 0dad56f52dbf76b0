"""Our reader of word pieces says what `tokenizers` says, piece by piece and place by place."""

from pathlib import Path

import pytest
import tokenizers

from steward.models.minilm import TOKENIZER
from steward.models.wordpiece import WordPieces

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
# Since the tables of `tokenizers` were made, Unicode has given marks and punctuation to rare scripts.
MOST_NEWER = 600
TEXTS = [
    "",
    " \t\n",
    "Héllo, WÖRLD!",
    "cafe\u0301 naïve İstanbul ﬁn ß Ǆ",
    "[CLS] is written, [SEP] too, and [mask] is not",
    "東京タワー and 서울 한국어",
    "don't; e-mail: a.b@c.de #1 50% (x) {y} <z>",
    "zero\u200bwidth soft\u00adhyphen \ufffd nul\x00l \x0b tab\tend",
    "x" * 101 + " " + "y" * 100,
    "😀 👩‍👩‍👧 ünïcode",
    "\u2028line\u2029paragraph\u00a0space\u3000wide",
]


@pytest.fixture(scope="module")
def ours() -> WordPieces:
    return WordPieces.from_file(TOKENIZER)


@pytest.fixture(scope="module")
def theirs() -> tokenizers.Tokenizer:
    found = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    found.no_padding()
    found.no_truncation()
    return found


def same(ours: WordPieces, theirs: tokenizers.Tokenizer, text: str) -> bool:
    found, wanted = ours.encode(text), theirs.encode(text, add_special_tokens=False)
    return (found.ids, found.offsets) == (wanted.ids, wanted.offsets)


@pytest.mark.parametrize("text", TEXTS)
def test_odd_texts_have_the_same_pieces_at_the_same_places(
    ours: WordPieces, theirs: tokenizers.Tokenizer, text: str
) -> None:
    assert same(ours, theirs, text)


def test_so_has_every_page_of_the_documentation(ours: WordPieces, theirs: tokenizers.Tokenizer) -> None:
    assert [page.name for page in PAGES if not same(ours, theirs, page.read_text(encoding="utf-8"))] == []


def test_so_has_every_character_but_for_what_is_newer(ours: WordPieces, theirs: tokenizers.Tokenizer) -> None:
    codes = [code for code in range(1, 0x30000) if not 0xD800 <= code < 0xE000]
    differing = [code for code in codes if not same(ours, theirs, f"ab{chr(code)}cd e")]
    assert len(differing) < MOST_NEWER
    assert min(differing) > 0x600, "no script of Europe is among them"
