"""The words in which people and models speak of changes: verbs by what they do, and how denial sounds.

Data for the claims rule. A verb is listed by its base form; regular pasts follow from it.
"""

from collections.abc import Iterator

# What a verb of change can stand for. A tool does one or several of these; a claim needs one of them done.
FAMILIES: dict[str, str] = {
    "create": """add create make put insert register schedule book plan start set jot note write record enter
        append log save place slot pencil pop drop throw stick track capture queue generate draft
        establish introduce post attach compose produce build initiate arrange organise organize pin""",
    "finish": """complete finish mark tick close resolve accomplish conclude wrap cross knock wind
        strike scratch finalise finalize fulfil fulfill settle sort handle""",
    "remove": """delete remove erase drop discard destroy cancel clear purge eliminate wipe trash bin ditch
        scrap axe nuke zap dump toss cut empty take clean unlist cross strike scratch forget dismiss shred
        obliterate withdraw retire vaporise vaporize evict banish kill throw lose expunge uninstall revoke
        strip unschedule dissolve prune flush""",
    "change": """update change edit modify rename alter adjust set move amend revise reschedule postpone push
        shift bump raise lower increase decrease reprioritise reprioritize prioritise prioritize fix correct
        switch mark flag tag label reopen restore undo revert swap replace rewrite extend defer delay snooze
        upgrade downgrade transfer merge bring promote demote assign tweak reword retitle advance convert
        sort reorder rearrange reset toggle enable disable apply link unlink connect schedule make""",
    "send": """send email mail message notify deliver forward share post text ping dispatch submit publish
        tweet broadcast reply respond invite inform alert contact transmit upload call phone""",
    "store": """store save remember memorise memorize archive persist write record log note file index
        ingest back upload copy export cache register commit""",
    "run": """run execute launch trigger invoke perform deploy install restart start stop pay order buy
        purchase transfer approve confirm configure build compile charge refund
        subscribe unsubscribe""",
}

# Past and participle where they do not simply end in -ed.
IRREGULAR: dict[str, tuple[str, ...]] = {
    "make": ("made",), "put": ("put",), "set": ("set",), "write": ("wrote", "written"), "send": ("sent",),
    "take": ("took", "taken"), "cut": ("cut",), "throw": ("threw", "thrown"),
    "stick": ("stuck",), "strike": ("struck", "stricken"), "wind": ("wound",),
    "forget": ("forgot", "forgotten"), "lose": ("lost",), "undo": ("undid", "undone"),
    "rewrite": ("rewrote", "rewritten"), "bring": ("brought",), "run": ("ran",), "buy": ("bought",),
    "pay": ("paid",), "build": ("built",), "withdraw": ("withdrew", "withdrawn"), "overwrite": ("overwrote",),
    "reset": ("reset",),
}  # fmt: skip

# Base and past look alike, so that only a subject or an auxiliary tells them apart.
ALIKE = frozenset({"put", "set", "cut", "reset"})
# Past forms that are everyday words with another meaning far more often.
HARMLESS = frozenset({"made", "called", "ordered", "started", "lost", "ran", "noted", "sorted"})

_DOUBLED = frozenset(
    (
        "drop", "pop", "ping", "tag", "plan", "bin", "scrap", "zap", "log", "jot", "stop", "swap", "wrap",
        "slot", "pin", "strip", "cut", "put", "set",
    )
)  # fmt: skip


def _pasts(verb: str) -> tuple[str, ...]:
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb in _DOUBLED:
        return (f"{verb}{verb[-1]}ed",)
    if verb == "cancel":
        return ("canceled", "cancelled")
    if verb.endswith("e"):
        return (f"{verb}d",)
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return (f"{verb[:-1]}ied",)
    return (f"{verb}ed",)


def _ongoing(verb: str) -> str:
    if verb in _DOUBLED or verb == "cut":
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"


def _entries() -> Iterator[tuple[str, str]]:
    for family, verbs in FAMILIES.items():
        for verb in verbs.split():
            yield verb, family


def _table(forms: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {form: frozenset(families) for form, families in forms.items()}


def _collect() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    base: dict[str, set[str]] = {}
    past: dict[str, set[str]] = {}
    ongoing: dict[str, set[str]] = {}
    for verb, family in _entries():
        base.setdefault(verb, set()).add(family)
        ongoing.setdefault(_ongoing(verb), set()).add(family)
        for form in _pasts(verb):
            past.setdefault(form, set()).add(family)
    return _table(base), _table(past), _table(ongoing)


BASE, PAST, ONGOING = _collect()

# A change told as a state: what it says was done to the thing.
STATES: dict[str, frozenset[str]] = {
    "gone": frozenset({"remove", "finish"}), "history": frozenset({"remove", "finish"}),
    "toast": frozenset({"remove"}), "off": frozenset({"remove", "finish"}),
    "no longer": frozenset({"remove", "finish", "change"}), "no more": frozenset({"remove", "finish"}),
    "complete": frozenset({"finish"}), "done": frozenset(FAMILIES), "finished": frozenset({"finish"}),
    "in place": frozenset({"create", "change"}), "in effect": frozenset({"change"}),
    "good to go": frozenset(), "all set": frozenset(), "squared away": frozenset(),
    "taken care of": frozenset(), "up to date": frozenset(), "sorted": frozenset(), "handled": frozenset(),
    "settled": frozenset(), "live": frozenset(), "on its way": frozenset({"send"}),
    "on the way": frozenset({"send"}), "in the bin": frozenset({"remove"}),
    "in the trash": frozenset({"remove"}),
    "out of your": frozenset({"remove"}), "out of the": frozenset({"remove"}),
    "out of here": frozenset({"remove"}),
    "locked in": frozenset({"create", "change"}), "on the books": frozenset({"create"}),
    "on record": frozenset({"store", "create"}), "a goner": frozenset({"remove"}),
    "an ex-task": frozenset({"remove"}), "dead": frozenset({"remove"}),
}  # fmt: skip

# Changes by their noun; where none is named, any change is meant.
NOUNS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("deletion", "removal", "cleanup", "purge"), frozenset({"remove"})),
    **dict.fromkeys(("addition", "creation", "booking"), frozenset({"create"})),
    **dict.fromkeys(("update", "change", "edit"), frozenset({"change"})),
    **dict.fromkeys(("delivery", "transfer", "payment", "upload"), frozenset({"send", "run", "store"})),
    **dict.fromkeys(("request", "operation", "action"), frozenset[str]()),
    "completion": frozenset({"finish"}),
}
