"""The entry points `steward`, `diana` and `research-agent`."""

from steward.surfaces.cli.app import main, research_agent

__all__ = ["main", "research_agent"]

if __name__ == "__main__":
    main()
