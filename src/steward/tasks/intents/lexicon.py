"""Words by what they do in a sentence about tasks: verbs of each intent, nouns of lists, questions,
politeness.

Shared by the classifier's features and by the rules that cut titles and references out of an utterance.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ADD_VERBS = _words(
    "add adds adding added create make put include insert append write jot note record log remember remind "
    "schedule set start begin throw place stick pop toss tack enter save generate prepare memo pencil "
    "register "
    "dont forget new addd ad creat remeber rember build plan track need want stow squeeze slot"
)
LIST_VERBS = _words(
    "show list display read tell view see check find get give open pull bring name recite repeat iterate "
    "fetch "
    "print hear know review look walk go dictate count query summarize describe lookup run browse present "
    "shw "
    "list whats what which how when where is are do does did have has any am will"
)
DELETE_VERBS = _words(
    "delete remove erase clear cancel drop discard trash scratch wipe nuke empty nix eliminate purge "
    "forget kill "
    "cut strike clean dump toss destroy abolish reset deleting removing take cross get rid off out delte "
    "remvoe "
    "removed deleted ditch scrap unlist clean lose axe away"
)
DONE_VERBS = _words(
    "done complete completed finish finished mark tick ticked check checked cross crossed accomplished did "
    "bought called paid sent cleaned washed fixed submitted picked dropped mailed booked wrote read returned "
    "went took made got ordered scheduled completing finishing handled sorted closed close resolved wrapped "
    "watered walked fed emailed replied signed printed cooked mowed vacuumed folded ironed backed updated "
    "already just ive weve knocked nailed through over marked ran visited met cancelled renewed purchased"
)
UPDATE_VERBS = _words(
    "change update modify rename edit move push postpone reschedule delay shift bump extend adjust rewrite "
    "prioritize reprioritize raise lower increase decrease set make switch reword replace correct alter fix "
    "reassign snooze defer advance amend turn revise bring mark swap undo reopen uncheck unmark mov chnage "
    "updat"
)
TASK_NOUNS = _words(
    "task tasks todo todos list lists item items reminder reminders chore chores errand errands checklist "
    "agenda "
    "assignment assignments entry entries thing things job jobs duty duties tasklist lsit taks plate note "
    "notes"
)
SHOPPING_NOUNS = _words(
    "shopping grocery groceries wish wishlist cart basket supplies packing buy bag store errands"
)
MEDIA_NOUNS = _words(
    "playlist song songs music album track radio podcast movie video volume light lights lamp alarm "
                     "timer email emails message text call tweet facebook news weather temperature train "
                     "taxi uber "
                     "ticket flight hotel restaurant recipe joke account card bank balance bill bills "
                     "traffic stock "
                     "coffee plug vacuum game meeting meetings contact contacts phone calendar credit "
                     "insurance")  # fmt: skip
PRIORITY_WORDS = _words("priority urgent important critical asap low high medium urgently top crucial")
DUE_WORDS = _words(
    "due deadline overdue late today tomorrow tonight week month friday monday tuesday wednesday thursday "
                   "saturday sunday pending left remaining outstanding upcoming")  # fmt: skip
WH = _words(
    "what whats which how when where who why is are do does did have has am can could will would should any"
)
MINE = _words("my me i im ive ill we our mine id")

CLASSES: tuple[tuple[str, frozenset[str]], ...] = (
    ("ADD", ADD_VERBS),
    ("LIST", LIST_VERBS),
    ("DEL", DELETE_VERBS),
    ("DONE", DONE_VERBS),
    ("UPD", UPDATE_VERBS),
    ("TASK", TASK_NOUNS),
    ("SHOP", SHOPPING_NOUNS),
    ("MEDIA", MEDIA_NOUNS),
    ("PRIO", PRIORITY_WORDS),
    ("DUE", DUE_WORDS),
    ("WH", WH),
    ("MINE", MINE),
)

# Verbs that a task may start with; where two of them are joined by "and" there are two tasks.
TASK_VERBS = _words(
    "add apply arrange ask assemble attend back bake bathe bike book borrow bring brush build buy call "
    "cancel change charge "
    "check clean clear close collect complete confirm contact cook copy create cut decide defrost deliver "
    "deploy design "
    "discuss donate download draft draw drink drive drop dust eat edit email empty exercise explore fax "
    "feed fetch figure "
    "file fill find finish fix floss fold follow freeze get give go grab hang help hire hoover install "
    "invite iron join "
    "journal learn lend load lock look mail make measure meditate meet mend mop move mow open order "
    "organise organize pack "
    "paint park pay phone pick plan plant play polish post practice practise prepare print process pull "
    "purchase push put "
    "rake read rearrange refill refund register renew rent repair replace reply report request research "
    "reserve respond "
    "return review rewrite rinse rsvp run save schedule scrub search sell send set sew shave ship shop "
    "shovel shower shred "
    "sign sort speak start stop stretch study submit swap sweep swim switch take talk tell test text throw "
    "thank tidy "
    "train transfer translate trim try turn unload unpack update upgrade upload use vacuum visit volunteer "
    "vote wait wake "
    "walk wash watch water wax wipe work wrap write"
)

POLITE = _words(
    "please pls plz hey hi hello ok okay kindly just olly alexa siri google cortana steward thanks thank "
                "assistant well so um uh yo bot gonna wanna ahead")  # fmt: skip
POLITE_STARTS: tuple[tuple[str, ...], ...] = tuple(
    tuple(phrase.split())
    for phrase in (
        "can you", "could you", "would you", "will you", "can u", "could u", "i would like you to",
        "i want you to",
        "i need you to", "id like you to", "i need for you to", "do me a favor and", "be so kind as to",
        "would you mind", "would you be willing to", "is it possible for you to", "is it possible to",
        "go ahead and",
        "i would like to", "id like to", "i want to", "lets", "let us", "make sure to", "be sure to",
        "may i", "can i",
        "can we", "help me", "hurry up and", "you can", "you could", "i wanna", "id love to",
        "id love you to",
        "i want u to", "could we", "would it be possible to", "i was wondering if you could",
        "i need to ask you to",
    )
)  # fmt: skip
