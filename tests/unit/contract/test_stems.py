from concurrent.futures import ThreadPoolExecutor

from steward.contract.stems import english_stem


def test_forms_of_one_word_share_a_stem() -> None:
    assert {english_stem(word) for word in ("connect", "connected", "connecting", "connections")} == {
        "connect"
    }


def test_threads_do_not_spoil_each_others_words() -> None:
    words = [
        f"{stem}{tail}{number}ly"
        for tail in ("ing", "ation", "ies")
        for number in range(60)
        for stem in ("carr", "instanc", "swarm")
    ]
    expected = [english_stem(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(english_stem, words * 5)) == expected * 5
