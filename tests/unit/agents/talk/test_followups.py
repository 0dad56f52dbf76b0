"""Which sentences mean something only after another one."""

import pytest

from steward.agents.talk.followups import Instead, Repeating, SameFor, Valued, read_follow_up
from steward.agents.talk.taking_back import TakeBack


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("the other one", Instead("the other one", other=True)),
        ("no, not that, the dentist", Instead("the dentist")),
        ("no wait, it was the water bill", Instead("the water bill")),
        ("oops, not Joan, Joanna", Instead("Joanna", old="Joan")),
        ("actually thursday is better", Instead("thursday")),
        ("no, I meant friday", Instead("friday")),
        ("same for bread", SameFor("bread")),
        ("and the electrician too", SameFor("the electrician")),
        ("also on friday", SameFor("on friday")),
        ("and on saturday?", SameFor("on saturday")),
        ("what about the done ones?", SameFor("the done ones")),
        ("change it back", TakeBack(again=True)),
        ("oh no, put it back", TakeBack(wanted=True, again=True)),
        ("oops, no I didn't. reopen it", TakeBack(again=True)),
        ("undo both", TakeBack(2)),
        ("undo the undo", TakeBack(again=True)),
        ("no, undo that", TakeBack(wanted=True, again=True)),
        ("they were both fine as they were, put the two back", TakeBack(2, again=True)),
        ("the old title was nicer, set it back", TakeBack(again=True)),
        ("neither is finished. reopen both", TakeBack(2, again=True)),
        ("no, the colour was better before", TakeBack()),
        ("undo the last three", TakeBack(3)),
        ("make it recurring every friday", Repeating("every friday")),
        ("make that weekly", Repeating("weekly")),
        ("sorry, not finished yet", TakeBack(done=True)),
        ("no, thursday was better", TakeBack(again=True)),
        ("and the one before that", TakeBack(next_one=True)),
        ("take both off again", TakeBack(2, added=True)),
        (
            "the hedge as well, and the lawn",
            SameFor("the hedge, and the lawn", more=("the hedge", "the lawn")),
        ),
        ("and the other letter too", SameFor("letter", other=True)),
        ("make them both low priority", Valued("low priority", count=2)),
        ("and its deadline is 4 May, not the 14th", Valued("4 May")),
        ("that was the wrong one, I meant the shed", Instead("the shed")),
        ("its due on saturday", Valued("saturday")),
        ("its urgent", Valued("urgent")),
        ("wrong task, it was the shed", Instead("the shed")),
        ("not the right hour, 6pm it is", Instead("6pm", field="due_date")),
        ("and its only low priority", Valued("low priority")),
        ("and make it urgent", Instead("urgent", sure=False)),
        ("the date's missing, its for the 29th", Instead("for the 29th", field="due_date")),
        ("and this needs to be done by the 5th", Valued("the 5th")),
        ("they're both for monday", Valued("monday", count=2)),
        ("both are due tomorrow", Valued("tomorrow", count=2)),
        ("its every other week", Repeating("every other week")),
        ("its deadline is 4 May", Valued("4 May")),
        ("wrong date, should be the 9th", Instead("the 9th", field="due_date")),
        ("bad hour, make it half past two", Instead("half past two", field="due_date")),
        ("the name's wrong, it's Ilona", Instead("Ilona", field="title")),
        ("you got the priority wrong, it should be low", Instead("low", field="priority")),
        ("that's not the right weekday: thursday", Instead("thursday", field="due_date")),
        ("and wrong year too, it's 2028", Instead("2028", field="due_date")),
        ("oh, wrong spelling. I meant Kathrin", Instead("Kathrin", field="title")),
        ("I gave the wrong time, its at nine", Instead("at nine", field="due_date")),
    ],
)
def test_a_follow_up_is_told_from_whole_requests(said: str, meant: object) -> None:
    assert read_follow_up(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "add buy milk",
        "and add bread",
        "also remind me to call Ana",
        "no",
        "no thanks",
        "no, that's fine",
        "no problem",
        "no, not now",
        "nope, nothing else",
        "what do I have on friday?",
        "I changed my mind",
        "put the bins out",
        "actually I would like to see all of my tasks for the next week",
        "no, I still want to keep that one",
        "add milk, put it back on the shelf",
        "put it back to friday",
        "should I put it back?",
        "bad day, let's talk about the hedge tomorrow",
        "its a lovely garden with many old trees and a very small pond behind it",
    ],
)
def test_what_stands_on_its_own_is_no_follow_up(said: str) -> None:
    assert read_follow_up(said) is None


def test_whoever_says_a_page_follows_nothing_up() -> None:
    assert read_follow_up("no wait, " * 4_000) is None
