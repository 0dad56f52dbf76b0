from f.steward.door import call


def main(steward: dict) -> list:
    """Open tasks whose title an older one has already; the older one stays."""
    tasks = call(steward, "list_tasks", {"completed": False}, step="look")["data"]["tasks"]
    seen, found = set(), []
    for task in sorted(tasks, key=lambda each: each["created_at"]):
        words = task["title"].casefold()
        if words in seen:
            found.append({"id": task["id"], "title": task["title"]})
        seen.add(words)
    return found
