"""Which language something was said in, as far as it must be known to say that it is not understood.

Owns no translation: without a language model only English is read. Pure.
"""

import unicodedata
from collections import Counter

from steward.contract import linear_re as re
from steward.models.planner.words import word_set

_SHARE = 0.3  # of a sentence's words that are another language's little words
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_ENGLISH = word_set(
    """the a an is are was were be to of and in for on with at from by it this that my your i you he she we
    they me what when where who which how do does did can could would will please not no have has yo"""
)
_SHORTENED = frozenset({"", "s", "re", "ll", "ve", "d", "m", "t"})
_LITTLE = {
    "German": """der die das und ist nicht ich du wir ihr ein eine einen einem meine meinen mein zu zum zur
        für mit auf von bitte wie was wann wo wer warum kannst hast habe bin sind auch den dem des im am""",
    "French": """le la les un une des du et est ne pas je tu nous vous il elle mon ma mes ton ta pour avec sur
        dans que qui quoi quand où comment bonjour merci suis ça c'est quel quelle au aux s'il à de en ce se
        aujourd'hui demain""",
    "Spanish": """el la los las un una unos y es no yo tú mi mis para con por que qué quién cuándo dónde cómo
        hola gracias estoy está soy del al favor cuál tengo puedes añade en de se lo hace
        hoy mañana hay muy""",
    "Italian": """il lo la gli le un una e è non io tu mio mia miei per con che chi cosa quando dove come ciao
        grazie sono della del al alla puoi aggiungi di oggi domani""",
    "Portuguese": """o a os as um uma e é não eu meu minha para com por que quem quando onde como olá obrigado
        obrigada estou está do da você pode em de hoje amanhã""",
    "Dutch": """de het een en is niet ik jij je wij mijn voor met op van wat wie wanneer waar hoe hallo
        bedankt ben zijn alsjeblieft kun naar""",
}
_WORDS = {language: word_set(words) for language, words in _LITTLE.items()}
_SCRIPTS = {
    "CYRILLIC": "Cyrillic letters",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "ARABIC": "Arabic letters",
    "CJK": "Chinese or Japanese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "THAI": "Thai",
    "DEVANAGARI": "Devanagari letters",
}


def other_language(text: str) -> str | None:
    """The language of a sentence that is plainly not English; None otherwise, also where that is unclear."""
    unquoted = _QUOTED.sub(" ", text)  # what is quoted is spoken of, not spoken
    return _by_script(unquoted) or _by_words(unquoted)


def _by_script(text: str) -> str | None:
    letters = [letter for letter in text if letter.isalpha()]
    scripts = [unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in letters]
    named = [_SCRIPTS[script] for script in scripts if script in _SCRIPTS]
    return Counter(named).most_common(1)[0][0] if named and len(named) * 2 > len(letters) else None


def _by_words(text: str) -> str | None:
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]
    if not words:
        return None
    counts = {language: sum(word in known for word in words) for language, known in _WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    english = sum(_is_english(word) for word in words)
    return best if counts[best] > english and counts[best] / len(words) >= _SHARE else None


def _is_english(word: str) -> bool:
    """ "When's" and "who'll" are as English as what they are short for."""
    stem, _, rest = word.partition("'")
    return stem in _ENGLISH and rest in _SHORTENED
