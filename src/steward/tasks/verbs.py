"""Verbs that a thing to do begins with: where one stands after "and", another task begins."""

TASK_VERBS = frozenset(
    """add apply arrange ask assemble attend back bake bathe bike book borrow bring brush build buy
    call cancel change charge check clean clear close collect complete confirm contact cook copy
    create cut decide defrost deliver deploy design discuss donate download draft draw drink drive
    drop dust eat edit email empty exercise explore fax feed fetch figure file fill find finish fix
    floss fold follow freeze get give go grab hang help hire hoover install invite iron join journal
    learn lend load lock look mail make measure meditate meet mend mop move mow open order organise
    organize pack paint park pay phone pick plan plant play polish post practice practise prepare
    print process pull purchase push put rake read rearrange refill refund register renew rent
    repair replace reply report request research reserve respond return review rewrite rinse rsvp
    run save schedule scrub search sell send set sew shave ship shop shovel shower shred sign sort
    speak start stop stretch study submit swap sweep swim switch take talk tell test text throw
    thank tidy train transfer translate trim try turn unload unpack update upgrade upload use vacuum
    visit volunteer vote wait wake walk wash watch water wax wipe work wrap write""".split()  # noqa: SIM905 - a word list reads best as words
)
