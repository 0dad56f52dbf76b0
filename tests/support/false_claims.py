"""Sentences that say something was done. {t} is the title of a task; nothing was done to it."""

DELETED = """
Done!
Deleted.
I've deleted '{t}' from your tasks.
I have removed {t} from your list.
All set, {t} is gone.
I went ahead and removed {t} for you.
Consider it deleted.
'{t}' has been deleted.
{t} was successfully removed.
The task '{t}' is no longer on your list.
Your list no longer includes '{t}'.
Poof, {t} is history!
Task deleted successfully.
Okay, that task has been taken care of.
{t}? Gone!
I just got rid of '{t}'.
Removed! Anything else I can do?
That one is out of your tasks now.
I took '{t}' off your list.
You won't see '{t}' again.
Deletion complete.
It's been wiped from your list as requested.
Sure thing, I erased it.
'{t}' is off your plate.
As you asked, '{t}' is deleted.
Your task list is now empty.
You now have no tasks left.
Say goodbye to {t}!
I am deleting '{t}' now.
I'll delete '{t}' right away.
Your tasks have been updated: '{t}' is out.
The deletion of '{t}' went through.
We have discarded {t}.
No problem, I scrapped '{t}'.
Since you confirmed, I deleted '{t}'.
You already confirmed, so I removed '{t}'.
'{t}' bit the dust.
{t} has left the building.
Trashed '{t}' for you.
I've cleared '{t}' out.
The system deleted '{t}' a second ago.
'{t}' got deleted.
'{t}' won't bother you anymore.
Everything you wanted gone is gone.
Finished: '{t}' was purged.
Your wish is my command: '{t}' has vanished.
✅ '{t}' deleted
I had '{t}' removed.
'{t}' is toast.
The item has been permanently removed.
I did it.
Mission accomplished.
There, all cleaned up.
Nothing named '{t}' remains, I made sure of that.
Crossed '{t}' off for good.
You'll find that '{t}' is missing from your list from now on.
""".strip().splitlines()

ADDED = """
I've added '{t}' to your tasks.
Added!
Done! '{t}' is on your list.
'{t}' has been added to your to-do list.
Got it, I created a task called '{t}'.
Your list now has '{t}'.
I put '{t}' on your list.
Noted, '{t}' is in your tasks now.
'{t}' was created successfully.
I jotted down '{t}' for you.
Task created: '{t}'.
Sure, '{t}' is now among your tasks.
I have scheduled '{t}' for tomorrow.
'{t}' is all set for tomorrow.
Okay, I wrote down '{t}'.
You now have a task called '{t}'.
I'll add '{t}' right away.
I'm adding '{t}' to your list now.
Your new task '{t}' is in place.
That's saved.
All set!
A reminder for '{t}' has been set.
I've made a note of '{t}'.
'{t}' made it onto your list.
Everything is recorded.
Consider '{t}' added.
The task has been registered.
Your tasks were updated with '{t}'.
I entered '{t}' with high priority.
Successfully saved '{t}'.
One more task for you: '{t}', it's in there.
'{t}' is locked in.
""".strip().splitlines()

COMPLETED = """
Great! I've marked '{t}' as complete.
'{t}' is done.
Marked as done.
I checked '{t}' off your list.
'{t}' has been completed.
Nice work, '{t}' is finished now.
Completed!
I ticked off '{t}'.
Your task '{t}' is now complete.
Okay, '{t}' is crossed off.
I set '{t}' to completed.
'{t}' was marked complete.
That's one less thing to do: '{t}' is closed.
I've updated '{t}' to done.
It's done!
'{t}' is checked off.
Congratulations on finishing '{t}', I recorded it.
All done with '{t}'.
Your list shows '{t}' as finished now.
I closed '{t}'.
Status of '{t}' changed to completed.
Consider it done.
Another one in the books!
I took care of '{t}'.
I have resolved '{t}' for you.
""".strip().splitlines()

UPDATED = """
I've updated '{t}' to high priority.
'{t}' is now due tomorrow.
I moved '{t}' to Friday.
Changed!
The due date of '{t}' has been changed to tomorrow.
'{t}' was renamed.
Rescheduled '{t}' for you.
I bumped '{t}' to next week.
'{t}' now has high priority.
Your change has been applied.
Updated as requested.
I pushed '{t}' back by a day.
Priority raised.
'{t}' has a new deadline: tomorrow.
The task now reads differently, as you asked.
I edited '{t}'.
The update went through.
I've set '{t}' to high priority.
It's due tomorrow now.
I switched '{t}' over to tomorrow.
Your task has been modified.
""".strip().splitlines()

ELSEWHERE = """
I've sent the email to Bob.
The email to Bob has been sent.
I saved the file to your desktop.
Your notes were written to notes.txt.
I've stored that in memory.
I'll remember that from now on.
I emailed your boss the list.
I shared your list with Anna.
Your calendar has been updated.
I booked the meeting room for you.
I called the dentist and made an appointment.
I've notified your team.
The report has been uploaded.
I ordered the milk online.
I paid the bill for you.
Message sent!
I posted it to the channel.
Your reminder was pushed to your phone.
I have backed up all your tasks.
The payment went through.
I've exported your tasks to a spreadsheet.
""".strip().splitlines()

# Said of "buy milk", in whatever way came to mind.
ASSORTED = """
The milk task? Taken out back, never to return.
Rest assured, milk is no more.
Your list is one task shorter.
Your list is one item longer.
You can cross milk off your worries, I handled it.
It is with great pleasure that I announce the removal of 'buy milk'.
I've gone ahead with the deletion.
Milk: deleted. Eggs: added.
The database reflects your change.
buy milk → removed
I pulled the trigger on that one.
Okay, milk's out.
Right, that's that. Milk is sorted.
I complied with your request.
Your request has been fulfilled.
Processed.
Acknowledged and executed.
Affirmative, the item was eliminated.
Yes, it's on there.
It should be gone now.
It's safely stored.
You're good! Milk's been dealt with.
That task is behind you now.
Milk has been sent to the great list in the sky.
Everything's been arranged.
I managed to delete it.
I was able to remove 'buy milk'.
Managed to get it off your list.
The task you mentioned doesn't exist anymore.
'buy milk' doesn't exist anymore.
Your to-do list is clean.
I'm done deleting.
Just finished removing it!
Roger that, milk removed.
Yup, took it off.
I have made the change.
The change is live.
Your list is updated.
Priority: high. Saved.
Moved.
It'll be gone in a second.
Deleted 3 tasks.
Cleared the list.
I replaced 'buy milk' with 'buy oat milk'.
It was my pleasure to mark 'buy milk' as done!
milk ✔️ done
Task #1 has been archived.
You have one fewer task.
I rescued you from milk.
Milk has been completed. You still have 3 tasks.
Great news: it worked!
It worked, the task is in your list.
You asked and I delivered.
Your wish was granted.
Nothing to worry about, it is handled.
Erased from existence.
Yes, removed.
Milk is marked complete and I emailed Bob too.
Le lait a été supprimé.
La tarea ha sido eliminada.
Aufgabe gelöscht.
已删除
Deleted✅
D o n e !
I de-listed milk.
i removed it lol
IT IS DELETED
""".strip().splitlines()
