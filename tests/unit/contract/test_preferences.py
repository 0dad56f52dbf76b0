"""What descriptions say about when to prefer which tool."""

import pytest

from steward.contract.preferences import LONGEST_PIECE, Preference, preferences, without_rivals


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("Use this instead of zint for songs.", Preference(favours=True, other="zint", when="songs")),
        ("Prefer it over `zint` when it is loud.", Preference(favours=True, other="zint", when="it is loud")),
        ("Use rather than the zint_x tool.", Preference(favours=True, other="zint_x")),
        ("Preferred to zint for songs", Preference(favours=True, other="zint", when="songs")),
        ("Use this when it rains.", Preference(favours=True, when="it rains")),
        ("Best for songs, tunes or hums.", Preference(favours=True, when="songs, tunes or hums")),
        ("Only for songs.", Preference(favours=True, when="songs", only=True)),
        ("Use it only if it rains.", Preference(favours=True, when="it rains", only=True)),
        ("For songs, use this.", Preference(favours=True, when="songs")),
        (
            "Use this instead of zint unless it rains.",
            Preference(favours=True, other="zint", when="it rains", unless=True),
        ),
        ("Prefer zint_x for songs.", Preference(favours=False, other="zint_x", when="songs")),
        ("For songs, use zint_x instead.", Preference(favours=False, other="zint_x", when="songs")),
        ("If it rains prefer `zint`.", Preference(favours=False, other="zint", when="it rains")),
        ("Use zint_x instead when it rains.", Preference(favours=False, other="zint_x", when="it rains")),
        ("Prefer zint_x\n    for songs.", Preference(favours=False, other="zint_x", when="songs")),
        ("- Plays\n- Prefer zint_x for songs\n", Preference(favours=False, other="zint_x", when="songs")),
        ("Not for songs.", Preference(favours=False, when="songs")),
        ("Never use this for songs: use zint.", Preference(favours=False, other="zint", when="songs")),
    ],
)
def test_an_instruction_is_read(description: str, said: Preference) -> None:
    assert preferences(f"Does it all. {description}") == (said,)


def test_where_to_go_instead_belongs_to_what_was_turned_away() -> None:
    assert preferences("Plays. Not for songs; use zint_x.") == (
        Preference(favours=False, when="songs"),
        Preference(favours=False, other="zint_x", when="songs"),
    )


@pytest.mark.parametrize(
    "description",
    [
        "",
        "List every song there is.",
        "Prefer a dedicated tool where there is one.",
        "Uses less memory than before.",
        f"Use this for {'songs ' * LONGEST_PIECE}",
    ],
)
def test_other_sentences_are_none(description: str) -> None:
    assert preferences(description) == ()


@pytest.mark.parametrize(
    ("description", "about"),
    [
        ("Plays. Prefer zint_x for songs.", "Plays.."),
        ("Plays. Not for songs.", "Plays.."),
        ("Plays. Never for songs: use zint.", "Plays.."),
        ("Plays. Use this instead of zint for songs.", "Plays. songs."),
        ("Plays. Use this instead of zint unless it rains.", "Plays.."),
        ("Plays. Use this for songs.", "Plays. Use this for songs."),
        ("Deletes. Use caution when it rains.", "Deletes. Use caution when it rains."),
    ],
)
def test_words_that_send_a_request_elsewhere_do_not_speak_for_the_tool(description: str, about: str) -> None:
    assert without_rivals(description) == about
