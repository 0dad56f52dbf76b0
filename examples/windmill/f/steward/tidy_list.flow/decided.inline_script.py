from f.steward.door import proposal


def main(steward: dict, asked: dict) -> dict:
    """Fails while nobody has decided, so that the flow looks again later."""
    if "proposal" not in asked:
        return asked
    found = proposal(steward, asked["proposal"])
    match found["state"]:
        case "waiting" | "running":
            raise RuntimeError(f"It waits for a person: steward approve {asked['proposal']}")
        case "finished":
            result = found["result"]
            return {"title": asked["title"], "removed": result["success"], "why": result["error"]}
        case state:
            return {"title": asked["title"], "removed": False, "why": found["rejected_why"] or state}
