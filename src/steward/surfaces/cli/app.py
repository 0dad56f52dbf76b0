"""The command line: which commands there are.

Nothing heavy is imported here, so that `--help` answers at once; each command imports what it needs.
"""

import sys

import typer

from steward.surfaces.cli import (
    agents,
    demo,
    evaluation,
    keys,
    log,
    proposals,
    questions,
    registry,
    tools,
    workspace,
)

HELP = """Steward acts for you, and asks first.

Every tool call passes one governed door: validated, rated, approved where it must be, run under a
deadline, logged and traced.

\b
Try:
  steward tools list
  steward tools call save_fact --arg text="The spare key is at Ana's."
  steward proposals
  steward log
"""

app = typer.Typer(
    name="steward",
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: rich would cost half of the start-up time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

workspace.register(app)
demo.register(app)
registry.register(tools.app)
app.add_typer(tools.app, name="tools")
app.add_typer(agents.app, name="agents")
proposals.register(app)
questions.register(app)
app.add_typer(keys.app, name="keys")
log.register(app)
evaluation.register(app)


def main() -> None:
    _plain_pipes()
    app()


def research_agent() -> None:
    main()


def _plain_pipes() -> None:
    """A reader that closes early (`steward log | head`) ends the command quietly."""
    import signal  # noqa: PLC0415 - not on every platform

    if hasattr(signal, "SIGPIPE") and not sys.stdout.isatty():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
