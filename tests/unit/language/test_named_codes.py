"""Names of countries, languages and currencies become the codes that a slot takes."""

import pytest

from steward.language.codes import code_of


@pytest.mark.parametrize(
    ("name", "described", "said", "code"),
    [
        ("country", "ISO 3166 code of the country", "Switzerland", "CH"),
        ("country code", "", "the Netherlands", "NL"),
        ("tgt", "Target language code", "japanese", "ja"),
        ("tgt", "ISO 639-1", "Japanese", "ja"),
        ("quote currency", "Three-letter code, e.g. EUR", "Japanese yen", "JPY"),
        ("currency", "e.g. 'USD'", "US dollars", "USD"),
    ],
)
def test_a_slot_that_takes_codes_gets_the_code_of_a_name(
    name: str, described: str, said: str, code: str
) -> None:
    assert code_of(name, described, said) == code


@pytest.mark.parametrize(
    ("name", "described", "said"),
    [
        ("country", "The country to look in", "Switzerland"),
        ("country", "ISO 3166 code of the country", "CH"),
        ("title", "Name of the film", "Brazil"),
        ("country", "ISO code", "Middle-earth"),
        ("region", "Country or region, e.g. UK.", "Bangladesh"),
        ("country", "e.g. UK, Norway", "Bangladesh"),
    ],
)
def test_what_is_no_name_or_wanted_as_a_name_stays(name: str, described: str, said: str) -> None:
    assert code_of(name, described, said) is None
