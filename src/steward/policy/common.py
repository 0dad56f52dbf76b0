"""English words of four letters and more that say nothing about anybody: those that every text is made of.

Data only: taken from the top of word frequency lists, without names, places, relations and what is private.
"""

_WORDS = """
able about above according across action active actually added addition after again against almost alone
along already also although always among another anyone anything area areas around asked available away back
based became because become been before began begin beginning behind being believe below best better between
book both brought build building built call called came case change check city class clear close come coming
common company complete completed control could country course current currently data date days decided
describe described design details developed different does doing done down during each early either else end
enough even event events ever every everyone everything example fact file files final finally find first
following form found four free from front full further general getting give given goes going good great
group half hand have having hear held help here high himself hold home hour hours however idea important
include included including information inside instead into issue item items itself just keep kind knew know
known language large last late later latest lead least leave left less level life like line list little
local long longer look looking made main make making many matter maybe mean means meet might minutes model
modern moment month months more most move much must name named near need needed never news next night
nothing number often once only open order original other others outside over page part parts past people
person place plan play point possible present probably problem process program project public question
quickly rather read real really reason recent related report research rest result results return right said
same search second section seen sent series service several shall short should show side similar simple
since site small some someone something soon source space special start state still stop story style such
sure system take taken talk tell term text than that their them then there these they thing things think
this those though thought three through thus time times title today together told took topic total toward
tried true trying turn type under until upon used user using usually various version very view want wanted
water week weeks well went were what when where whether which while whole whose will with within without
word words work working works world would write written wrote year years your
"""
COMMON_WORDS = frozenset(_WORDS.split())
