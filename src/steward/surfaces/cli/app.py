"""The command line: which commands there are.

Nothing heavy is imported here, so that `--help` answers at once; each command imports what it needs.
"""

import atexit
import gc
import sys

import typer
from typer._click.exceptions import ClickException  # Typer's own copy of click has no public name

from steward.contract.errors import InputError
from steward.surfaces.cli import (
    agents,
    ask,
    connecting,
    demo,
    evaluation,
    gaps,
    keys,
    knowledge,
    log,
    memory,
    opening,
    ownership,
    proposals,
    questions,
    registry,
    serve,
    skills,
    stop,
    tasks,
    tools,
    users,
    workspace,
)
from steward.surfaces.cli.output import Exit, show_error

ALLOCATIONS_BETWEEN_LOOKS = 50_000
HELP = """Steward acts for you, and asks first.

Every tool call passes one governed door: validated, rated, approved where it must be, run under a
deadline, logged and traced.

\b
Try:
  steward ask "Add buy milk tomorrow"
  steward chat
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
opening.register(app)
connecting.register(app)
demo.register(app)
ask.register(app)
stop.register(app)
registry.register(tools.app)
app.add_typer(tools.app, name="tools")
app.add_typer(tasks.app, name="tasks")
app.add_typer(users.app, name="users")
app.add_typer(agents.app, name="agents")
app.add_typer(skills.app, name="skills")
proposals.register(app)
questions.register(app)
app.add_typer(keys.app, name="keys")
app.add_typer(memory.app, name="memory")
serve.register(app)
log.register(app)
gaps.register(app)
evaluation.register(app)
ownership.register(app)


def main(commands: typer.Typer = app) -> None:
    """Run a command. Bad usage of a command that was asked for JSON is answered in JSON as well."""
    _spare_the_collector()
    if "--json" not in sys.argv:
        commands()
        return
    try:
        code = commands(standalone_mode=False)
    except ClickException as error:
        show_error(InputError(error.format_message(), fix="See --help."), as_json=True)
        code = Exit.USAGE
    except typer.Abort:
        code = Exit.FAILED
    sys.exit(code)


def _spare_the_collector() -> None:
    """Loading makes many classes and little garbage: looking for it, also at the end, took half a second."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_LOOKS)
    atexit.register(gc.freeze)


def research_agent() -> None:
    main(knowledge.app)
