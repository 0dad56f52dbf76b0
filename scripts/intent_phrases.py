"""Everyday to-do speech, generated: templates for each intent, and speech about everything else.

All of it was written for Steward; nothing here comes from a data set.
"""

import random
import re

_GROUP = re.compile(r"\(([^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")

SLOTS: dict[str, str] = {
    "vp": """buy milk|call mom|call the dentist|pay the electric bill|pay rent|walk the dog|water the plants|do the dishes
do laundry|fold the laundry|clean the kitchen|clean out the garage|mow the lawn|take out the trash|take out the recycling
feed the cat|feed the fish|wash the car|vacuum the living room|mop the floor|dust the shelves|change the light bulb
fix the sink|fix the leaky faucet|schedule a dentist appointment|book a flight|book a hotel|renew my passport
renew my license|get an oil change|get a haircut|pick up the kids|pick up dry cleaning|pick up my prescription
drop off the package|mail the letter|send the invoice|send the report|submit my timesheet|submit the assignment
finish the essay|finish my homework|study for the exam|read chapter five|write the proposal|review the contract
review the pull request|email the landlord|email sarah about the budget|text john back|reply to anna|call the bank
call the plumber|call the insurance company|cancel my gym membership|cancel the subscription|return the library books
return the shoes|order a cake|order new checks|buy a birthday gift for dad|buy groceries|buy stamps|buy dog food
get gas|go to the gym|go for a run|meditate|stretch|practice guitar|practice piano|do yoga|take my vitamins
take my medicine|make dinner|cook dinner|bake cookies|pack for the trip|pack lunch|plan the party|plan the vacation
prepare the slides|prepare for the interview|rehearse my speech|back up my laptop|update my resume|update the website
file my taxes|do my taxes|pay the credit card|transfer money to savings|check the mail|check the tire pressure
rake the leaves|shovel the driveway|paint the fence|paint the bedroom|assemble the bookshelf|hang the pictures
organize my closet|sort the mail|shred old documents|donate old clothes|visit grandma|meet with the accountant
attend the webinar|join the call|set up the printer|install the update|deploy the new build|fix the login bug
write unit tests|order printer ink|buy a new phone charger|research mortgage rates|apply for the job|vote
wrap the presents|write thank you notes|rsvp to the wedding|buy tickets for the game|clean the gutters
defrost the freezer|wash my hair|iron my shirts|change the sheets|make the bed|change the air filter|test the smoke alarm
water the garden|trim the hedges|plant tomatoes|bathe the dog|take the dog to the vet|take the car to the shop
charge my headphones|print the boarding passes|confirm the reservation|pick up milk on the way home|drink more water
learn spanish|journal|floss|eat vegetables|unload the dishwasher|clean the litter box|refill the bird feeder""",
    "item": """milk|eggs|bread|butter|cheese|sugar|flour|rice|pasta|chicken|beef|ham|bananas|apples|oranges|grapes|strawberries
tomatoes|onions|garlic|potatoes|carrots|lettuce|spinach|broccoli|cereal|oatmeal|coffee|tea|juice|soda|water|beer|wine
toilet paper|paper towels|toothpaste|shampoo|soap|detergent|trash bags|batteries|light bulbs|dog food|cat litter|diapers
ice cream|chips|cookies|chocolate|salt|pepper|olive oil|ketchup|mustard|mayo|peanut butter|jelly|honey|yogurt|cream
sour cream|bacon|sausage|fish|salmon|shrimp|tortillas|salsa|beans|corn|peas|two gallons of milk|a dozen eggs|sponges
napkins|foil|ziploc bags|deodorant|razors|tissues|vitamins|aspirin|pencils|notebooks|printer paper|a new mop|socks
sunscreen|a tent|a charger|birthday candles|wrapping paper|flowers|a card|lemons|limes|avocados|mushrooms|cucumbers""",
    "topic": """meeting|dentist appointment|report|groceries|laundry|homework|doctor appointment|presentation|project|essay
milk|rent|dishes|oil change|haircut|gym|workout|taxes|vacation planning|birthday party|car wash|budget review|book club
passport renewal|grocery shopping|team meeting|standup|weekly report|invoice|electricity bill|phone bill|dry cleaning
package|prescription|interview|exam|lunch with sam|dinner with alex|call with the client|vet appointment|piano lesson
old reminder|cleaning|vacuuming|gift for dad|flight booking|hotel reservation|timesheet|expense report|code review
dog walking|lawn mowing|garage cleanup|soccer practice|yoga class|thank you notes|conference call|garden work""",
    "ing": """washing the dishes|doing laundry|cleaning the bathroom|walking the dog|mowing the lawn|feeding the fish|dusting
vacuuming|mopping|grocery shopping|paying bills|watering the plants|taking out the trash|folding clothes|painting the fence
calling mom|studying for the exam|buying eggs|raking leaves|babysitting|exercising|changing the filters|sweeping|ironing""",
    "when": """today|tomorrow|tonight|this evening|tomorrow morning|on friday|on monday|next week|next tuesday|this weekend
by friday|by the end of the day|by tomorrow|at 5pm|at noon|at 3:30|on the 15th|on march 3rd|in two hours|in 3 days
before lunch|after work|later today|next month|by the end of the month|for tomorrow|for saturday|on thursday at 4pm
tomorrow at 9am|next friday at 5pm|in the morning|this afternoon|by sunday night|before the weekend|asap|every monday""",
    "list": """my list|the list|my to do list|my todo list|my to-do list|my task list|my tasks|my todos|the shopping list
my shopping list|my grocery list|the grocery list|my list of things to do|my list of chores|my chore list|my reminders
my checklist|my errands list|my list of tasks|my agenda|today's list|my work list|my packing list|our list|my wish list
my things to do|my list for today|my list for shopping|the family list|my weekend list|my home list""",
    "tasks": """tasks|todos|to dos|to-dos|reminders|chores|errands|items|things to do|assignments|to do items|open tasks
pending tasks|unfinished tasks|high priority tasks|overdue tasks|urgent tasks|completed tasks|tasks for today""",
    "past": """bought the milk|called mom|called the dentist|paid the rent|paid the electric bill|walked the dog|did the dishes
did the laundry|finished the report|finished my homework|sent the invoice|submitted the assignment|cleaned the kitchen
took out the trash|fed the cat|washed the car|mowed the lawn|picked up the kids|picked up the dry cleaning|mailed the letter
returned the books|booked the flight|renewed my passport|got the oil change|got a haircut|went to the gym|watered the plants
fixed the sink|wrote the proposal|reviewed the contract|emailed the landlord|replied to anna|filed my taxes|made dinner
packed for the trip|backed up my laptop|updated the website|bought the groceries|ordered the cake|dropped off the package
read chapter five|studied for the exam|vacuumed the living room|changed the light bulb|cancelled the subscription
visited grandma|wrapped the presents|printed the tickets|cooked dinner|folded the laundry|planted the tomatoes
completed the essay|turned in my timesheet|met with the accountant|deployed the build|picked up my prescription""",
    "prio": """high priority|low priority|medium priority|urgent|important|top priority|not urgent|less important|critical""",
    "title": """buy oat milk|call dad|pay the water bill|team sync|finish the final draft|dentist checkup|buy bread
weekly planning|submit final report|go running|evening workout|grocery run|clean the whole house""",
    "city": """boston|paris|tokyo|new york|chicago|london|denver|seattle|mumbai|sydney|dallas|berlin|miami|rome""",
    "artist": """taylor swift|the beatles|coldplay|beyonce|drake|adele|queen|mozart|jazz|rock|hip hop|classical|pop""",
    "device": """lights|kitchen light|bedroom lamp|tv|thermostat|vacuum|coffee maker|plug|speaker|fan|garage door|heater""",
    "food": """pizza|sushi|lasagna|pancakes|chili|fried rice|tacos|apple pie|chicken soup|pad thai|burgers|curry""",
    "person": """john|sarah|mom|dad|my boss|anna|tom|my wife|my brother|mike|dr smith|emily|david|my landlord""",
    "fact": """the capital of france|the population of india|the meaning of life|the speed of light|photosynthesis|a black hole
the definition of serendipity|the tallest mountain|the exchange rate of dollars to euros|the square root of 81|inflation
the score of the lakers game|the price of bitcoin|the stock price of apple|the distance to the moon|quantum computing""",
    "polite": """please|can you|could you|would you|can you please|could you please|i want you to|i need you to|hey|ok|go ahead and
i would like you to|would you mind|kindly|will you|please can you|hey can you|just|i'd like you to|please go ahead and""",
    "thanks": """please|thanks|thank you|pls|for me|for me please|right now|now|if you can|when you get a chance""",
    "nth": """first|second|third|last|fourth|next|top""",
    "num": """one|two|three|four|five|1|2|3|4|7""",
    "listname": """school supplies|groceries|vacation|christmas gifts|dog names|baby names|books to read|movies to watch|party guests
work|home|camping|hardware store|bills|power tools|recipes|errands|the wedding|birthday ideas|contacts|songs""",
}

ADD = """add {vp}|add {vp} {when}|add {vp} to {list}|add {item} to {list}|add {item}|add {item} and {item} to {list}|add a task to {vp}
add task {vp}|add a new task: {vp}|add a reminder to {vp} {when}|create a task to {vp}|create a new task called {vp}|new task {vp}
new task: {vp}|new todo: {vp}|todo {vp}|todo: {vp} {when}|to do: {vp}|remember {item}|remember to {vp}|remember to {vp} {when}
don't forget to {vp}|don't let me forget to {vp}|remind me to {vp}|remind me to {vp} {when}|remind me about the {topic} {when}
remind me about {topic}|remind me {when} to {vp}|set a reminder to {vp} {when}|set up a reminder for {topic}|set reminder {vp}
create a reminder to {vp}|make a reminder for {topic} {when}|i need to {vp}|i need to {vp} {when}|i have to {vp} {when}
i must {vp} {when}|i should {vp} {when}|gotta {vp}|i've got to {vp} {when}|we need {item}|we need more {item}|i need {item}
i need more {item}|we're out of {item}|i ran out of {item}|i'm out of {item} add it to {list}|we are running low on {item}
put {item} on {list}|put {vp} on {list}|put {ing} on {list}|put {topic} in {list} {when}|place {item} on {list}|include {item} on {list}
include {ing} in {list}|write {item} on {list}|write down {vp}|jot down {vp}|note {item} on {list}|make a note to {vp}
note to self {vp}|insert {ing} on {list}|throw {item} on {list}|stick {item} on {list}|tack {item} on to {list}|append {item} to {list}
{item} should be added to {list}|{ing} needs to be on {list}|{ing} needs to go on {list}|{list} should have {item} on it
i need {item} added to {list}|i need {ing} put on {list}|get {item} added to {list}|make sure {item} is added to {list}
make sure to put {item} on {list}|on {list} add {item}|to {list} add {vp}|{list} add {item}|for {list} add {item} as well
add to {list} {vp}|add to {list}: {item}|is {item} on {list} if not add it|if {item} isn't on {list} please add it
add {item} to {list} if it's not already there|add {item} to {list} unless it is already on it|do i have {item} on {list} if not add it
track {vp}|log a task: {vp}|save a task to {vp}|schedule {ing} {when} on {list}|plan to {vp} {when}|make a task for {topic}
add {topic} to {list}|add {topic} {when}|add {topic} {when} high priority|add {vp} it's urgent|add {vp} {when}, it's important
add {vp} with {prio}|urgent: {vp}|{vp} {when}|{vp}|i want to {vp} {when}|i'd like to add {item} to {list}|create a new list
create a list for {listname}|make a new list called {listname}|start a new list|start a list of {listname}|make a {listname} list
new list|new list for {listname}|begin a new list for {listname}|i want to start a new list|i need to make a list of {listname}
open a new list|create {listname} list|set up a new list for {listname}|generate a new list|make me a checklist for {listname}
add a new item|add an item to {list}|add something to {list}|add a new entry to {list}|new item for {list}|add this to {list}
put this on {list}|include this item|enter this on {list}|update {list} with {item}|update {list} with new items
open {list} and add {item}|bring up {list} and add {item}|reopen {list} and add {item}|also add {item}|and add {item} too
throw in {item}|oh and {item} too|get {item} when i'm at the store|buy {item}|pick up {item}|pick up {item} {when}|get {item}
i'd like {item} on {list}|{item} needs to be on {list}|have {item} put on {list}|it would be great if you could add {item} to {list}
delete {item} and add {item}|remind me i have {topic} {when}|remind me that {topic} is {when}|remind {person} and me to {vp}
make sure i {vp} {when}|ping me to {vp} {when}|nudge me to {vp}|i want to be reminded to {vp}|can i add {item} to {list}
is it possible to add {item} to {list}|help me remember to {vp}|i have {topic} {when}, add it|add {vp}, {vp} and {vp}
tasks for {when}: {vp}, {vp}|add two tasks: {vp} and {vp}|record {vp} as a task|make {vp} a task|turn this into a task: {vp}"""

LIST = """show {list}|show me {list}|show my {tasks}|show me my {tasks}|list my {tasks}|list {list}|list all my {tasks}|display {list}
display my {tasks}|what are my {tasks}|what are my {tasks} {when}|what's on {list}|what is on {list}|whats on {list}|what is on {list} {when}
what do i have to do|what do i have to do {when}|what do i need to do {when}|what's left to do|what's left for {when}|what is left {when}
what's next|what's next on {list}|what should i do {when}|what should i do next|what else do i have to do|what else is on {list}
what {tasks} do i have|what {tasks} do i have {when}|what {tasks} are due {when}|which {tasks} are due {when}|what is due {when}
what's due {when}|anything due {when}|do i have anything due {when}|do i have anything to do {when}|do i have any {tasks}
do i have any {tasks} {when}|any {tasks} left|any {tasks} for {when}|how many {tasks} do i have|how many {tasks} are on {list}
how many things are on {list}|how many {tasks} are left|read {list}|read me {list}|read out {list}|read {list} to me|read back {list}
read my {tasks}|tell me my {tasks}|tell me what's on {list}|tell me what is on {list}|tell me what i have to do {when}|tell me {list}
give me {list}|give me my {tasks}|get my {tasks}|get me {list}|pull up {list}|bring up {list}|open {list}|view {list}|view my {tasks}
see {list}|let me see {list}|let me see my {tasks}|let me hear {list}|i want to see {list}|i want to hear {list}|i need to see {list}
can i see {list}|can i hear {list}|i'd like to know what's on {list}|i need to know what is on {list}|i want to know what i have to do
let me know what's on {list}|check {list}|check my {tasks}|check what's on {list}|check if {item} is on {list}
check {list} to see if {ing} is on it|look at {list}|look up {list}|go over {list}|go through {list} with me|walk me through {list}
recite {list}|repeat {list}|run through {list}|is {item} on {list}|is {ing} on {list}|are {item} on {list}|is there {item} on {list}
do i have {item} on {list}|do i have {ing} on {list}|did i add {item} to {list}|did i put {item} on {list}|did i remember to add {item}
have i added {item} to {list}|have i already put {item} on {list}|does {list} have {item}|does {list} include {item}|did i put {vp} on {list}
can you tell me if {item} is on {list}|let me know if {ing} is on {list}|what does {list} look like|what does {list} contain
what does {list} say|what items are on {list}|what things are on {list}|what did i put on {list}|what all is on {list}
what have i got on {list}|what do i have on {list}|what do i need to buy|what do i need to get at the store|what am i supposed to buy
what do i need from the store|do i need to buy {item}|do i need {item}|am i supposed to buy {item}|what lists do i have
what are my lists|show me all my lists|how many lists do i have|list my lists|name my lists|find my list|which lists are there
{list}|{list} please|my {tasks}|my {tasks} please|{tasks} for today|todo list for {when}|show overdue {tasks}|what am i late on
what's overdue|anything overdue|which tasks are overdue|show high priority tasks|what are my most important {tasks}
what is urgent|show everything that is urgent|what are my priorities {when}|show completed tasks|what have i done {when}
what did i finish {when}|what have i completed|which tasks are done|show finished tasks|show all tasks|show everything
what's pending|what is outstanding|what's still open|anything left on {list}|is there anything on {list}|is {list} empty
what's on my plate {when}|what's on the agenda {when}|how does my day look|how busy am i {when}|what have i got going on {when}
find tasks about {topic}|search my tasks for {topic}|search for {topic} in {list}|show tasks about {topic}|show me the {topic} task
when is the {topic} due|when do i have to {vp}|when is {topic} on {list}|what time is {topic} on {list}|what is the next task
what are my reminders|show my reminders|do i have any reminders {when}|what reminders are set for {when}|list reminders
what reminders do i have|tell me my reminders|what was i supposed to do {when}|what did i ask you to remind me about
remind me what i have to do {when}|remind me what's on {list}|remind me of my {tasks}|summarize my {tasks}|give me an overview of {list}
how many {tasks} did i complete {when}|what's the first thing on {list}|what are the top three {tasks}|count my {tasks}"""

COMPLETE = """i {past}|i just {past}|i've {past}|i already {past}|{past}|just {past}|ok i {past}|we {past}|i finally {past}|yes i {past}
i {past} today|i {past} this morning|i {past} yesterday|i have {past}|done with {topic}|done with the {topic}|i'm done with the {topic}
i'm done with the {topic} task|done with the {topic} task|i am done {ing}|i'm done {ing}|i finished {ing}|i'm finished with the {topic}
finished {ing}|finished the {topic}|i finished the {topic}|i completed the {topic}|completed {topic}|complete the {topic} task
complete {topic}|complete task {num}|complete the {nth} one|finish the {topic} task|mark {topic} as done|mark {topic} done
mark the {topic} task as complete|mark {vp} as done|mark {vp} as completed|mark {vp} complete|mark the {nth} task as done
mark task {num} as done|mark number {num} complete|mark it as done|mark it done|mark it complete|mark that as finished
mark {item} as bought|set {topic} to done|set {topic} as completed|tick off {topic}|tick {vp} off|tick off the {nth} one
check off {topic}|check off {vp}|check {vp} off {list}|check {topic} off|check off {item} on {list}|cross off {vp} i did it
{topic} is done|the {topic} is done|{topic} done|{vp} done|{vp} is done|{topic} is finished|{topic} finished|{topic} complete
{topic} is complete|the {topic} task is completed|{topic} has been done|{topic} are done|that's done|it's done|all done with {topic}
i did it|i did the {topic}|i took care of the {topic}|i took care of {ing}|taken care of: {topic}|i handled the {topic}|got it done
i got the {topic} done|i got {item}|i got the {item}|i bought {item}|i bought the {item}|bought {item}|picked up {item}
i picked up the {item}|wrapped up the {topic}|i'm through with {topic}|close the {topic} task|close task {num}|resolve the {topic} task
you can mark {topic} as done|you can check off {topic}|{topic} was completed|i've finished {ing}|i have finished the {topic}
i have completed {ing}|i just finished {ing}|just finished {ing}|done {ing}|done: {vp}|done {topic}|completed: {vp}|accomplished {topic}
i managed to {vp}|i was able to {vp} today|update {topic} as complete|change {topic} to done|mark all tasks as done|mark everything as complete
i've done {topic}|i've done everything on {list}|all tasks are done|knocked out the {topic}|nailed the {topic}|the {item} has been bought
i have already {past}|task {num} is done|number {num} is done|the {nth} one is done|the {nth} task is finished"""

DELETE = """delete {topic}|delete the {topic}|delete the {topic} task|delete {vp}|delete {vp} from {list}|delete {item} from {list}
delete task {num}|delete item {num}|delete number {num}|delete the {nth} one|delete the {nth} task|delete the {nth} item on {list}
delete it|delete that|delete this task|delete that item from {list}|delete this item|delete {list}|delete the list|delete all my {tasks}
delete all tasks|delete everything|delete everything on {list}|delete all completed tasks|delete my {listname} list
remove {topic}|remove the {topic}|remove the {topic} task|remove {vp}|remove {vp} from {list}|remove {item} from {list}|remove {item}
remove task {num}|remove item {num}|remove the {nth} item|remove the {nth} one from {list}|remove it|remove that|remove this from {list}
remove {list}|remove the list|remove all items from {list}|remove everything from {list}|remove {ing} from {list}|remove my {listname} list
take {item} off {list}|take {ing} off {list}|take {topic} off {list}|take {item} off of {list}|take off {item} from {list}
take {item} out of {list}|take everything off {list}|take away {item} from {list}|take that off {list}|get rid of {topic}
get rid of the {topic} task|get rid of {item}|get rid of {item} on {list}|get rid of {list}|get rid of everything on {list}
get rid of that|get rid of the {nth} one|erase {topic}|erase {item} from {list}|erase {list}|erase everything from {list}|erase that
clear {list}|clear out {list}|clear all my {tasks}|clear my completed tasks|clear everything|clear the list|empty {list}|wipe {list}
wipe out {list}|nuke {list}|cross out {item} from {list}|cross {item} off {list}|cross {ing} off {list}|cross off {item} from {list}
scratch {topic}|scratch {item} off {list}|scratch that from {list}|strike {item} from {list}|strike {topic}|drop {topic}|drop {item} from {list}
drop the {topic} task|cancel {topic}|cancel the {topic} task|cancel my {topic} reminder|cancel the reminder to {vp}|cancel all my reminders
cancel task {num}|cancel my reminder for {topic}|cancel {list}|discard {topic}|discard the {topic} task|trash the {topic} task|trash {list}
throw away {list}|throw out the {topic} task|eliminate {item} from {list}|nix {topic}|kill the {topic} task|forget about {topic}
forget the {topic} task|forget {ing}|i don't need to {vp} anymore|i don't need {item} anymore|i no longer need {item}|i no longer need to {vp}
i don't want {item} on {list}|we don't need {item} anymore|we no longer need {item} on {list}|never mind the {topic}|nevermind {ing}
i won't {vp} after all|i don't have to {vp} anymore|{item} should be removed from {list}|{item} needs to be taken off {list}
i need {item} removed from {list}|have {item} removed from {list}|on {list} remove {item}|from {list} remove {item}
{list} remove {item}|find {item} on {list} and remove it|open {list} and delete {item}|find {list} and delete it|go to {list} and remove {item}
purge {list}|purge completed tasks|dump {list}|scrap the {topic}|i want to delete {topic}|i want to remove {item} from {list}
delete the task about {topic}|delete the reminder about {topic}|remove the reminder to {vp}|delete my reminder to {vp}
delete all reminders|remove all my reminders for {when}|delete the last thing i added|remove the last item|delete what i just added
delete overdue tasks|remove {topic} {when}|delete the {topic} {when}|clean up {list}|clean {list}|reset {list}|delete old reminder"""

UPDATE = """change {topic} to 4pm|change {topic} to {when}|change the {topic} to {when}|change the {topic} task to {when}|change the time of {topic} to 3pm
change {topic} from 3pm to 4pm|change the due date of {topic} to {when}|change the title of {topic} to {title}|change {vp} to {title}
change {item} to {item}|change {item} to {item} on {list}|change the name of {topic} to {title}|change the priority of {topic} to high
change {topic} priority to low|change my reminder to {vp} to {when}|change the {nth} task to {title}|change it to {when}
update {topic}|update {topic} to {title}|update the {topic} task|update the {topic} deadline to {when}|update task {num} to {title}
update the due date for {topic}|update {topic} to {prio}|update the description of {topic}|update my reminder for {topic} to {when}
modify {topic}|modify the {topic} task|modify {topic} to {title}|edit {topic}|edit the {topic} task|edit task {num}|edit the {nth} item
rename {topic} to {title}|rename the {topic} task to {title}|rename {vp} to {title}|rename task {num} {title}|rename it to {title}
move {topic} to {when}|move the {topic} to {when}|move {vp} to {when}|move the {topic} task to {when}|move my {topic} reminder to {when}
move everything from today to tomorrow|move all of today's tasks to {when}|push {topic} to {when}|push the {topic} back to {when}
push {topic} back a week|push back {topic} by two days|push the {topic} to next friday at 5pm|postpone {topic}|postpone {topic} to {when}
postpone the {topic} until {when}|postpone {vp} by a day|reschedule {topic}|reschedule {topic} to {when}|reschedule the {topic} for {when}
delay {topic} by an hour|delay {vp} until {when}|defer {topic} to {when}|snooze {topic}|snooze {topic} until {when}|snooze my reminder to {vp}
shift {topic} to {when}|bump {topic} to {when}|bump up the priority of {topic}|extend the deadline for {topic} to {when}|extend {topic} by a week
make {topic} {prio}|make the {topic} task {prio}|make {vp} {prio}|make the {topic} due {when}|make {topic} {when} instead|make it {prio}
make that due {when}|set {topic} to {prio}|set the priority of {topic} to high|set {topic} priority to medium|set the due date of {topic} to {when}
set {topic} due {when}|set the deadline of {topic} to {when}|set {vp} to {prio}|mark {topic} as {prio}|mark the {topic} task as urgent
mark {vp} as important|mark {topic} as not done|mark {topic} as incomplete|mark {vp} as undone|uncheck {topic}|unmark {vp}|reopen {topic}
reopen the {topic} task|prioritize {topic}|prioritize {vp}|reprioritize {topic}|raise the priority of {topic}|lower the priority of {topic}
increase the priority of {topic} to high|{topic} is now {when}|the {topic} is now at 4pm|the {topic} got moved to {when}|{topic} moved to {when}
the {topic} was rescheduled to {when}|{topic} is {prio} now|{topic} should be {prio}|{topic} should be due {when}|the {topic} is actually {when}
actually make {topic} {when}|replace {item} with {item}|replace {item} with {item} on {list}|replace {vp} with {title}|swap {item} for {item}
switch {item} to {item} on {list}|switch {topic} to {when}|correct {topic} to {title}|reword {topic} to {title}|rewrite the {topic} task
adjust the date of {topic}|adjust {topic} to {when}|bring {topic} forward to {when}|add a due date to {topic}|add a due date of {when} to {topic}
add a note to {topic}|add a description to the {topic} task|remove the due date from {topic}|remove the deadline of {topic}
clear the due date on {topic}|give {topic} {prio}|give the {topic} a due date of {when}|assign {prio} to {topic}|undo completing {topic}
instead of {item} make it {item}|i meant {item} not {item}|change number {num} to {title}|turn {item} into {item}|i didn't actually finish {topic}"""

OTHER = """can i use (butter|honey|rice|lettuce|almond milk) instead of (oil|sugar|pasta|spinach|cream)|what can i substitute for {item}
how long (is|does|can) {item} (good|last|stay) in the fridge|are {item} healthy|how many calories in {item}|is {item} good for you|do dogs eat {item}
what should i do (if i lose my card|if my car won't start|about lost luggage|if i'm sick)|my (car battery|phone|laptop) (died|is dead|is broken) what do i do
what do i (need|have) to do to (get a visa|change my password|apply for a loan|use my points)|what documents do i need for {city}
i need to (report a lost card|report fraud|apply for a new card|know my balance|talk to someone|know how to {vp}|change my pin|send my location to {person})
i need a (taxi|reservation for two|hotel in {city}|new card|loan|doctor near me|ride|recipe for {food}|joke|translator)
i have to report (fraud|a stolen card|suspicious activity)|what is the minimum (payment|i can pay) on my (card|bill)|how much (pto|vacation) do i have left
how many vacation days are left|when is payday|what is my salary|what's my apr|what is my income|request pto for (june|next week)|check the status of my pto
(switch|change) to (whisper mode|factory settings|male voice|french|dark mode)|change your (accent|language|name|speed|voice)|start calling me jake|my name is {person}
call me {person} from now on|move 50 dollars from checking to savings|move forward one song|go back to the previous track|rewind ten seconds|resume the audiobook
can you (order|get) new checks|order me a {food}|i want to order {food}|i'd like a {food} please|i would like to eat {food}|i'm hungry|i'm in the mood for {food}
cancel my (reservation|flight|hotel booking|dinner reservation|order|appointment with dr smith)|confirm my reservation for saturday|is there a wait at the restaurant
i'm not going to need the reservation|change my reservation to 8|do i need (a jacket|an umbrella|sunscreen|shots|a visa) (today|for {city}|this weekend|)
will i need (a jacket|boots|sunblock|a coat) (tomorrow|this weekend|this afternoon)|do i need to (change my oil|get my tires checked|wear a coat)
what's happening (in {city}|this weekend|in football|in the news)|are there any events (tonight|downtown|in {city})|what's going on around here
(yes|yeah|yep|exactly|right|correct|perfect|excellent|wonderful|awesome|great|nice|cool|fine) (that's right|you got it|thanks|well done|good job|)|no that's (wrong|not it)
you did (great|well|it wrong)|that was (great|not what i asked|a bad answer|wrong)|i didn't (say that|ask for that|catch that)|you have done (a great job|it wrong|well)
start (vacuuming|the coffee|the car|cleaning the floor)|begin vacuuming|clean the house with the robot|vacuum the floor now|make coffee|brew some coffee
bye|adios|later|good night|sup|yo|howdy|what's new|how's it going|how is your day|nice to meet you|happy birthday|merry christmas
tell me (my|the) (balance|credit score|account number|weather|time|score|latest news|minimum payment)|list (my|all my) (transactions|accounts|flights|contacts|songs)
show me (my|the) (transactions|balance|emails|photos|calendar|latest tweets|menu)|what are my (transactions|account balances|benefits|rewards|meetings)
how many (reward points|miles|dollars|emails|contacts) do i have|do i have (any new emails|enough money|insurance|any meetings|rewards)|did {person} (call|text|email)
create (an account|a new contact|a playlist|a password|a poem|an invoice template|a budget spreadsheet|a meeting|a chart)|make (a call|a payment|a playlist|a donation|a reservation)
delete (this email|my last message|the photo|my search history|all spam|this song from my playlist)|remove (this song|{person} from my contacts|the filter|my card)
add (a stop to my route|{person} to the call|money to my card|this to my playlist|subtitles|an event to my calendar|two and two)|set (the volume to 5|my location|a password)
finish my sentence|complete this sentence|complete my order|complete the purchase|finish the game|mark my location|check my credit|check the weather
update me on the news|update my profile|edit this photo|rename the file|rename my playlist|push the code to github|postpone my flight|reschedule my flight to friday
what's the weather (in {city}|today|tomorrow|this weekend)|will it rain (tomorrow|in {city}|tonight)|how hot is it in {city}|do i need an umbrella
play (some|) {artist}|play (my|the) {artist} playlist|put on some music|next song|skip this song|turn (up|down) the volume|mute|stop the music
what song is this|who sings this song|add this song to my favorites|i like this song|play the news|play the next episode|shuffle my playlist
turn (on|off) the {device}|dim the {device}|set the {device} to 50 percent|switch (on|off) the {device}|make me a coffee|start the {device}
change the {device} color to blue|lower the brightness|set the temperature to 70|set an alarm for 7am|wake me up at 6|cancel my alarm
set a timer for (ten|5|20) minutes|how much time is left on the timer|stop the timer|what time is it (in {city}|)|what's today's date|what day is it
what day is christmas|how many days until easter|call {person}|text {person} (that i'm late|hello|i'm on my way)|send an email to {person}
read my emails|did {person} email me|any new messages|reply to {person}'s email|check my inbox|open facebook|post a tweet|tweet that i'm happy
what's {person}'s phone number|add {person} to my contacts|share my location with {person}|find my phone|who is {person}
book (me|) a (taxi|flight|train ticket|hotel|table) (to {city}|in {city}|for two|)|find flights to {city}|when is the next train to {city}
get me an uber|is my flight on time|where is my luggage|what's my flight status|do i need a visa for {city}|how far is {city}
how's the traffic (to {city}|on the highway|right now)|directions to {city}|find a gas station|where is the nearest {food} place|how do i get to {city}
find a recipe for {food}|how do i (make|cook) {food}|how long do i boil eggs|can i substitute butter for oil|how many calories are in {food}
order (a|some|) {food}|does the restaurant deliver|recommend a restaurant|what should i eat|make a reservation for two at 7pm
what is {fact}|what's {fact}|tell me about {fact}|explain {fact}|how does {fact} work|define serendipity|who was the first president
who wrote hamlet|how old is the queen|when was the moon landing|why is the sky blue|what is the meaning of enthusiastic|spell necessary
what is 25 times 4|add 5 and 89|divide 100 by 7|what's the sum of 12 and 30|convert 10 miles to km|how many ounces in a cup|roll a dice|flip a coin
translate hello to spanish|how do you say thank you in french|tell me a joke|sing a song|tell me a story|tell me something interesting
hello|hi there|good morning|how are you|what's up|what's your name|who made you|are you a robot|what can you do|how old are you|where are you from
thank you|thanks a lot|that was helpful|good job|great work|you're welcome|goodbye|see you later|i'm bored|i'm tired|i love you|you are wrong
that's not correct|you misunderstood me|can you repeat that|say that again|speak slower|what did you say|i don't understand|never mind|stop|cancel that
shut up|yes|no|maybe|sure|i don't know|what do you mean|can you explain that|why|really|that is funny|ok cool|sounds good|not sure about that
what's my bank balance|transfer 50 dollars to savings|pay my credit card bill|what's my credit score|report a lost card|my card was declined
how much did i spend on groceries last month|when is my bill due|what's the routing number|freeze my account|change my pin|increase my credit limit
i lost my wallet|my order hasn't arrived|where is my package|cancel my order|i want a refund|track my order|i want to return this|what are your hours
schedule a meeting with {person} at 3|what meetings do i have today|is {person} free tomorrow|book a meeting room|when is my next meeting
what's on tv tonight|what movies are playing|recommend a movie|when is the next lakers game|who won the game|what's the score|buy concert tickets
what events are happening in {city}|things to do in {city}|what should i see in {city}|tell me the news|latest headlines|news about {fact}
how's the stock market|what is apple stock at|buy 10 shares of apple|when do i get paid|how many vacation days do i have|request time off
write a poem about {fact}|write an essay about {fact}|summarize this article|write a python function to sort a list|help me write a cover letter
create a logo for my company|draw a cat|generate an image of a {food}|make a website|list the planets|list the capitals of europe|give me a list of countries
show me pictures of {city}|show me a map of {city}|show me the best phones|what are the best laptops|compare iphone and android|find me a plumber
how do i delete my facebook account|how do i remove a stain from a shirt|how do i change a tire|how do i update my phone|how can i finish a marathon
i bought a car what insurance do i need|i finished college in 2010|i called you yesterday and nobody answered|my phone is broken
change your name to max|change the language to spanish|update the software|update my address|change my password|change the channel|change your voice
delete my account|delete my browser history|remove my card from the account|clear the cache|restart|shut down|connect to wifi|pair my phone
is {fact} true|do you know {person}|can dogs eat chocolate|what is the best way to learn piano|how do i tie a tie|how to meditate|is it safe to travel to {city}
what's my location|where did i park|how much gas do i have|when is my car due for service|schedule an oil change for me|when were my tires changed
am i speaking to a real person|let me talk to an agent|i want to complain|what is your favorite color|do you have pets|what's your hobby
what do you think about {artist}|what's trending|look up {fact}|google {fact}|search the web for {fact}|read me a book|play an audiobook|pause
how tall is {person}|when is mother's day|what holidays are in may|set my thermostat|lock the front door|arm the alarm|is the door locked"""

ASK = """{item}|{topic}|the {topic}|{item} and {item}|my {topic}|{topic} {when}|{item} {when}"""

TEMPLATES = {"add": ADD, "list": LIST, "complete": COMPLETE, "delete": DELETE, "update": UPDATE, "other": OTHER, "ask": ASK}
SHARES = {"add": 2600, "list": 2000, "complete": 1600, "delete": 1700, "update": 1700, "other": 3000, "ask": 500}


def _options(text: str) -> list[str]:
    """The options of a block: one per line or bar, but not the bars inside brackets."""
    found: list[str] = []
    for line in text.split("\n"):
        depth, start = 0, 0
        for k, sign in enumerate(line):
            depth += (sign == "(") - (sign == ")")
            if sign == "|" and depth == 0:
                found.append(line[start:k])
                start = k + 1
        found.append(line[start:])
    return [option for option in found if option]


_SLOTS = {name: _options(values) for name, values in SLOTS.items()}


def fill(template: str, rng: random.Random) -> str:
    text = _GROUP.sub(lambda m: rng.choice(m.group(1).split("|")), template)
    text = _SLOT.sub(lambda m: rng.choice(_SLOTS[m.group(1)]), text)
    return " ".join(text.split())


def _typo(text: str, rng: random.Random) -> str:
    """Swap, drop or double one letter of a longer word."""
    words = text.split()
    long = [k for k, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long:
        return text
    k = rng.choice(long)
    word = words[k]
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(3)
    if kind == 0:
        word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    elif kind == 1:
        word = word[:at] + word[at + 1 :]
    else:
        word = word[:at] + word[at] + word[at:]
    words[k] = word
    return " ".join(words)


def _dress(text: str, intent: str, rng: random.Random) -> str:
    """Politeness, thanks, capitals, full stops and the odd typo, as people write."""
    if intent not in ("ask", "complete") and rng.random() < 0.2:
        text = f"{rng.choice(_SLOTS['polite'])} {text}"
    if intent != "ask" and rng.random() < 0.12:
        text = f"{text} {rng.choice(_SLOTS['thanks'])}"
    if rng.random() < 0.3:
        text = text[0].upper() + text[1:]
    if rng.random() < 0.15:
        text += rng.choice(".!?") if intent == "list" else rng.choice(".!")
    return _typo(text, rng) if rng.random() < 0.07 else text


def generate(seed: int = 7) -> list[tuple[str, str]]:
    """Rows of (utterance, intent): every template several times, without doubles."""
    rng = random.Random(seed)
    rows: dict[str, str] = {}
    for intent, block in TEMPLATES.items():
        templates = _options(block)
        for n in range(SHARES[intent]):
            text = _dress(fill(templates[n % len(templates)], rng), intent, rng)
            rows.setdefault(text, intent)
    return list(rows.items())
