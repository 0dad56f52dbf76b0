from f.steward.door import call


def main(steward: dict, task: dict) -> dict:
    """The proposal that a person decides about; nothing is removed yet."""
    answer = call(steward, "delete_task", {"task_id": task["id"]}, step=f"remove-{task['id']}")
    if answer["status"] == "pending_approval":
        return {"title": task["title"], "proposal": answer["proposal_id"]}
    return {"title": task["title"], "removed": answer["success"], "why": answer["error"]}
