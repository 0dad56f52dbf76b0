"""Words that anybody may use when talking about tasks without saying anything about the world.

What is left of a sentence once these, the person's own words and the words of records are taken away is
something that came from nowhere. Names of things and of errands are deliberately not in here.
"""

_WORDS = """
    steward steward's gone a an the this that these those it its itself they them their theirs he she
    his her him i me my mine we us our you your yours yourself one ones other others another some any
    all both each every everything anything nothing something none no not never nor either neither more
    most less least few several many much lot lots only just also too even still yet already again once
    twice first second third fourth fifth last next previous final same different such own and or but so
    because since if unless until while when whenever then than though although however before after as
    like at by for from in into of off on onto out over per to toward under up upon with within without
    about above across against along among around behind below beneath beside between beyond down during
    except inside near outside through throughout via am is are was were be been being do does did doing
    done has have had having can could may might must shall should will would cannot need needs needed
    want wants wanted ought let lets i'm i've i'd i'll you're you've you'd you'll we're we've we'd we'll
    it's it'll that's there's here's what's who's let's they're isn't aren't wasn't weren't don't
    doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't shouldn't mustn't gonna wanna
    what which who whom whose where why how whether there here now today tonight tomorrow yesterday
    later soon currently recently earlier ahead away back forward together apart instead otherwise else
    rather quite very really pretty fairly actually basically simply exactly clearly certainly
    definitely absolutely probably perhaps maybe possibly likely usually always often sometimes ever
    anytime anyway right left yes yeah yep yup nope ok okay sure fine great good nice well perfect
    excellent wonderful awesome fantastic amazing lovely brilliant super cool alright thanks thank
    welcome please sorry apologies apologize hello hi hey goodbye cheers congrats congratulations glad
    happy pleased pleasure course problem worries worry luck enjoy day evening morning afternoon night
    week weekend month year hour minute moment time date dates monday tuesday wednesday thursday friday
    saturday sunday january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec pm noon midnight o'clock task tasks to-do to-dos
    todo todos list lists item items entry entries reminder reminders thing things title titles name
    names named called due deadline deadlines priority priorities high medium low normal urgent
    important importance description note notes detail details status state completed complete completes
    completing completion incomplete finished finish open pending outstanding remaining active overdue
    late scheduled recurring repeats repeat repeating unfinished total number numbers count match
    matches matching matched similar fit fits found find finding see seeing look looks looking looked
    show shows showing shown display view check checking checked tell ask asking asked say says said
    mean meant know knows known think believe guess seem seems seemed understand understood sound sounds
    clear unclear certain specific exact correct wrong help helps helping able unable possible
    impossible available assist assistant confirm confirmed confirmation confirming choose choice pick
    select option options reply respond answer question questions request requests requested word words
    message type provide provides give gives given take takes keep keeps keeping kept stay stays remain
    remains wait waits waiting hold try tries trying tried work works working worked fail fails failed
    failure error errors issue issues trouble unfortunately went come comes go goes going get gets
    getting got make makes making made put puts use uses using used prefer plan plans feel free mind way
    ways kind sort part bit rest whole full empty far caught busy light plate ready set start starting
    started end ending stop continue proceed cancel cancelled canceled change changes changed changing
    unchanged add adds added adding addition create creates created creating new delete deletes deleted
    deleting deletion remove removes removed removing removal update updates updated updating edit edits
    edited editing modify modified modifying rename renamed renaming move moved moving mark marks marked
    marking reschedule rescheduled rescheduling postpone postponed push pushed permanently permanent
    undo undone undoing reopen reopened restore bring remember forget manage managing managed organize
    organized handle handles handled handling track tracking tracked session conversation chat account
    user person person's system tool tools server service technical connection temporarily temporary
    seconds couple access permission belongs belong allowed safe safely two three four five six seven
    eight nine ten eleven twelve zero letter letters character characters length long short longer
    shorter e.g i.e etc example examples instance summary overview quick quickly brief following follows
    follow based order ordered sorted group grouped mentioned mention refer refers referring related
    regarding concerning described describe include includes included including excluding contain
    contains containing presently it'd that'd there'd who'd top bottom list's task's actual real further
    additional extra meanwhile plus besides hmm oh ah wow yay hooray job nicely progress productive
    current multiple reading afraid apparently matters matter spare soonest handy glance check-in myself
    hang double-check recheck due's okay'd sense happens happen happened whichever whatever suits suit
    wish wishes would-be
"""
BASIC = frozenset(_WORDS.split())

# Said to be polite, and never a statement about anything.
_POLITE = """
    ok okay sure sorry thanks thank you great alright got it of course no problem understood right hello hi
    hey well perfect nice good very much welcome oh hmm ah i see my apologies absolutely certainly happy to
    help cheers please yes yep one moment let's just a second wonderful awesome excellent steward there
"""
COURTESY = frozenset(_POLITE.split())
