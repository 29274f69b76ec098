"""All commands together, and how each of them may end."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Annotated

import typer

from recombine._version import __version__
from recombine.cli import advise, audit, bias, data, modularity, reuse, runs, studies, sweep
from recombine.cli.shared import say
from recombine.cli.standard_output import end_output, open_output, output_error
from recombine.errors import DatasetError, InputError, StoreError

app = typer.Typer(
    help="Will a neural network handle combinations of familiar parts that it never saw together?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts twice as fast, and shows flags without a type
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command, summary in (  # summaries fit on a line of 80 columns
    (studies.demo, "Watch a decoder fail on unseen combinations, and two remedies."),
    (advise.advise, "Say what a data split determines about unseen combinations."),
    (audit.audit, "Say whether a model handles unseen combinations, and why not."),
    (modularity.modularity, "Report whether a net's weights fall into modules."),
    (reuse.reuse, "Report what finetuning kept of a model."),
    (bias.bias, "Report how far a network is from where its training would end."),
    (sweep.sweep, "Train and measure every combination of some settings."),
    (studies.reproduce, "Run a paper's headline claims and decide each of them."),
    (studies.claims, "List the papers' claims and the verdicts from stored results."),
    (studies.report, "Write a study's page from stored results."),
):
    app.command(short_help=summary)(command)
app.add_typer(runs.app, name="runs")
app.add_typer(data.app, name="data")


def version(asked: bool) -> None:
    """Prints the version and ends."""
    if asked:
        say(f"recombine {__version__}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Will a neural network handle combinations of familiar parts that it never saw together?"""


def run() -> int:
    """Runs the command that `sys.argv` names; whatever goes wrong is one line on standard error.

    **Returns:**

    The exit code.
    """
    open_output()
    try:
        code = _run_command()
    except (OSError, SystemExit) as error:
        unwritten = output_error(error)
        if unwritten is None:
            raise
    else:
        unwritten = output_error()
    return code if unwritten is None else end_output(unwritten)


def _run_command() -> int:
    format_before, warnings.formatwarning = (
        warnings.formatwarning,
        _warning_line,
    )  # without a line of our code
    try:
        code = app(standalone_mode=False)
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # Ctrl-C at a question
            raise KeyboardInterrupt from None
        return _failure("there was no answer; nothing was changed", 1)
    except (InputError, StoreError, DatasetError) as error:
        return _failure(str(error), 2)
    except Exception as error:
        from recombine.runs import ExecutionError

        if isinstance(error, ExecutionError):
            return _failure(str(error), 1)
        if not hasattr(error, "format_message"):  # what the option parser raises
            raise
        message = error.format_message()
        if (
            type(error).__name__ == "NoArgsIsHelpError"
        ):  # its message is the help; older versions have shown it
            typer.echo(message, err=True, nl=bool(message))
            return 2
        return _failure(" ".join(message.split()), 2) if message else 2
    finally:
        warnings.formatwarning = format_before
    return code if isinstance(code, int) else 0


def _warning_line(message: Warning | str, *_: object, **__: object) -> str:
    return f"warning: {message}\n"


def _failure(line: str, code: int) -> int:
    with suppress(OSError):  # nobody may read standard error; the status still tells
        typer.echo(f"error: {line}", err=True)
    return code
