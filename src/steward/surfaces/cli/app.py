"""The command line: which commands there are.

Nothing heavy is imported here, so that `--help` answers at once; each command imports what it needs.
"""

import sys
from typing import Annotated

import typer
from typer._click.exceptions import ClickException  # Typer's own copy of click has no public name

from steward.contract.errors import InputError
from steward.contract.release import release
from steward.surfaces.cli import opening
from steward.surfaces.cli.commands import (
    agents,
    config,
    connecting,
    demo,
    evaluation,
    gaps,
    jobs,
    keys,
    log,
    memory,
    ownership,
    policy,
    proposals,
    questions,
    registry,
    schedules,
    serve,
    skills,
    tasks,
    tools,
    undo,
    upgrading,
    users,
    worker,
    workspace,
)
from steward.surfaces.cli.library import knowledge
from steward.surfaces.cli.output import Exit, show_error
from steward.surfaces.cli.talk import ask, stop
from steward.surfaces.collector import spare_the_collector

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


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steward {release()}")
        raise typer.Exit


@app.callback()
def begin(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which Steward this is.")
    ] = False,
) -> None:
    """What stands before every command."""
    del version


workspace.register(app)
worker.register(app)
upgrading.register(app)
opening.register(app)
connecting.register(app)
demo.register(app)
ask.register(app)
stop.register(app)
registry.register(tools.app)
app.add_typer(tools.app, name="tools")
app.add_typer(tasks.app, name="tasks")
schedules.register(app)
undo.register(app)
app.add_typer(users.app, name="users")
app.add_typer(agents.app, name="agents")
app.add_typer(skills.app, name="skills")
proposals.register(app)
questions.register(app)
app.add_typer(jobs.app, name="jobs")
app.add_typer(policy.app, name="policy")
app.add_typer(keys.app, name="keys")
app.add_typer(config.app, name="config")
app.add_typer(memory.app, name="memory")
serve.register(app)
log.register(app)
gaps.register(app)
evaluation.register(app)
ownership.register(app)


def main(commands: typer.Typer = app) -> None:
    """Run a command. Bad usage of a command that was asked for JSON is answered in JSON as well."""
    spare_the_collector()
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


def research_agent() -> None:
    main(knowledge.app)
