"""What the words in tools' names and descriptions say about what a tool does.

Owns the vocabulary and the inflections. Verbs are listed by what they usually do to the thing they are
said of; words that are as often nouns are marked, so that 'get_release' stays a read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum


class Act(IntEnum):
    """What a verb does, in rising order."""

    READ = 0
    WRITE = 1  # adds
    DESTROY = 2  # changes or takes away what was there
    EXECUTE = 3  # runs what the caller hands over, so that it may do anything


_READ = """
get fetch read retrieve list search find query describe show view lookup look check inspect browse explore
discover count compare analyze analyse calculate compute explain summarize summarise preview validate diff
stat info help ping peek tail scan monitor observe measure detect identify recommend suggest estimate
translate convert parse extract echo whoami recall autocomplete geocode forecast rank filter enumerate lint
crawl scrape introspect consult determine display grep glob obtain return aggregate profile head print tree
status history think access collect gather examine diagnose outline overview provide report audit screenshot
verify wait poll select watch review test trace match sample plot chart visualize download export render
load open
"""
# Adds something or sets something going; what was there stays.
_WRITE = """
create add insert append post send save store upload push publish submit assign copy duplicate clone fork mark
comment reply react star unstar follow unfollow like unlike subscribe unsubscribe start pause resume restore
schedule book reserve order request invite share grant register connect attach link pin unpin acknowledge
unacknowledge resolve unresolve dismiss draft import install generate build compile release trigger rerun
retry play skip queue enqueue record track notify charge pay transfer finalize sign initialize init commit
stage lock compress zip unzip gzip increment simulate tag label log pull persist remember memorize provision
prepare stash launch bid buy sell trade mint stake swap tweet email message call dial login logout signup mute
unmute snooze vote upvote downvote annotate join ingest index reindex seed fund withdraw deposit redeem claim
escalate lend populate spawn reconnect refresh sync synchronize make toggle reprioritize
"""
# Changes or takes away what was there.
_DESTROY = """
update edit modify patch set put write move rename unassign unmark enable disable activate deactivate
reschedule configure disconnect detach unlink archive unarchive complete uncomplete reopen close approve
accept decline promote click type press fill hover drag navigate scroll tap swipe checkout switch rebase bump
unlock rotate decrement upsert change alter adjust reorder transition scale rollout cordon uncordon drain
taint resize emulate upgrade allocate handle defer block unblock hide unhide split leave turn raise lower
increase decrease freeze unfreeze suspend unsuspend vacuum
delete remove drop destroy purge erase wipe clear truncate reset revoke cancel terminate kill abort discard
uninstall unpublish overwrite replace rollback revert prune flush expire ban evict shutdown reboot unregister
deregister forget void reject rm rmdir del unset stop restart trash empty merge deploy redeploy undeploy
force quit refund cleanup downgrade deprovision decommission unassociate disassociate
"""
_EXECUTE = """
execute exec run eval evaluate invoke apply migrate perform control manage operate dispatch automate
administer interact shell bash terminal cmd
"""
# As often a thing as an action: in the middle of a name or sentence they are no evidence.
_NOUN_LIKE = """
list search query view check count diff stat info help status history tree scan monitor profile head tail
report export download review test trace sample chart plot match overview outline screenshot comment order
request star like link post message call email tag label log record queue stage commit release build fork copy
draft patch share pin sync import transfer book bid trade track play lock switch type change update set merge
deploy reset refund run control shell terminal cmd bash charge sign schedule start stop access select make put
handle upgrade install scale filter rank reply drag press fill trigger pull index fund vote block split turn
store resume swap claim refresh seed
"""
# Reading in one tool, acting in the next: alone they are not enough for a verdict.
_WEAK = """
audit screenshot verify wait poll select watch review test trace match sample plot chart visualize download
export render resolve provide report access help monitor load open
"""
_PLAIN_READS = "get fetch read retrieve list search find describe return count lookup view check show"

# Said of a tool that looks, or works out an answer from what it is given, and does nothing else.
_SURE_READS = """
get list read search find fetch describe show view count lookup retrieve return query inspect preview whoami
explain validate compare diff calculate compute translate forecast
"""

VERBS: dict[str, Act] = {
    **dict.fromkeys(_READ.split(), Act.READ),
    **dict.fromkeys(_WRITE.split(), Act.WRITE),
    **dict.fromkeys(_DESTROY.split(), Act.DESTROY),
    **dict.fromkeys(_EXECUTE.split(), Act.EXECUTE),
}
NOUN_LIKE = frozenset(_NOUN_LIKE.split())
WEAK = frozenset(_WEAK.split())
PLAIN_READS = frozenset(_PLAIN_READS.split())
SURE_READS = frozenset(_SURE_READS.split())


@dataclass(frozen=True, slots=True)
class Verb:
    base: str
    act: Act
    form: str  # base, third ("lists") or ing ("listing")

    @property
    def noun_like(self) -> bool:
        return self.base in NOUN_LIKE

    @property
    def weak(self) -> bool:
        return self.base in WEAK


def verb(word: str) -> Verb | None:
    """The verb that a word is, in any of the forms that open a description."""
    for base, form in _lemmas(word):
        if base in VERBS:
            return Verb(base, VERBS[base], form)
    return None


def _lemmas(word: str) -> Iterator[tuple[str, str]]:
    yield word, "base"
    if word.endswith("ies"):
        yield word[:-3] + "y", "third"
    if word.endswith("es"):
        yield word[:-2], "third"
    if word.endswith("s"):
        yield word[:-1], "third"
    if word.endswith("ing") and len(word) > 5:
        yield word[:-3], "ing"
        yield word[:-3] + "e", "ing"
        if word[-4] == word[-5]:
            yield word[:-4], "ing"
