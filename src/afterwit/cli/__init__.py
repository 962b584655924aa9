"""The command line: one file per command, imported when it is called."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

import afterwit
from afterwit._start import end
from afterwit.errors import AfterwitError

COMMANDS = (
    "bound",
    "demo",
    "experts",
    "game",
    "inspect",
    "predict",
    "race",
    "replay",
    "run",
    "sample-size",
    "serve",
    "token",
)


class _LazyGroup(click.Group):
    """Finds a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        with _ending_at_ctrl_c():
            command: click.Command = getattr(importlib.import_module(f"afterwit.cli.{name}"), name)
        return command


@contextmanager
def _ending_at_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the process at once: raised in the middle of an import, it comes out as an error of numpy's."""
    if signal.getsignal(signal.SIGINT) not in (signal.default_int_handler, end):
        yield
        return
    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        how = "compiled" if afterwit.compiled else "interpreted: without its compiled modules, and slow"
        click.echo(f"afterwit {afterwit.__version__} ({how})")
        ctx.exit()


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@click.pass_context
def afterwit_command(ctx: click.Context) -> None:
    """Online learning with guarantees: what was promised, what happened, what hindsight would have given."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run a command; a user's mistake is one sentence on standard error and exit code 2."""
    # A name that the encoding of the output does not have is no reason to fail.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    # As with Ctrl-C, unwinding the stack removes what is half-written.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        arguments = sys.argv[1:] if arguments is None else arguments
        # A report says by which command it was made.
        afterwit_command.main(args=arguments, prog_name="afterwit", standalone_mode=False, obj=list(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.NoSuchOption as error:
        _fail(f"there is no option {error.option_name} (see --help)")
    except click.ClickException as error:
        _fail(f"{error.format_message().rstrip('.')} (see --help)")
    except AfterwitError as error:
        _fail(str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("afterwit: interrupted", err=True)
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"standard output: cannot be written ({error.strerror or error})")


def _fail(message: str) -> NoReturn:
    # What this imports is heavy, and only needed here.
    from afterwit.cli._said import say_to_stderr

    say_to_stderr(f"afterwit: {message}", "afterwit:", "bold red")
    sys.exit(2)


__all__ = ["main"]
