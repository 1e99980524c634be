"""What an author is told: where to look and which command to run."""

import re
import signal
import sys

STOPPED = 130  # the exit code of a command that was stopped with Ctrl-C, as shells know it


def command(words):
    """Return a command of notebooks.py as an author types it."""
    return f"python tools/notebooks.py {words}"


def run_again(at):
    """Return the words that tell an author to run the notebook of a place such as `where` returns."""
    return f"run it: {command('run ' + at.partition('#')[0])}"


def where(language, name, cell=None):
    """Return the words that tell an author where to look: the file, the cell's id and its first words."""
    place = f"notebooks/{language}/{name}"
    if cell is None:
        return place
    return place + points_to(cell)


def points_to(cell, most=30):
    """Return a cell's id after a #, and its first words, at most so many characters, in parentheses."""
    place = f"#{cell.get('id', '?')}"
    first_line = re.sub(r"<[^>]*>|[#*`|]", "", cell.source).lstrip().partition("\n")[0]
    words = " ".join(first_line.split())
    if not words:
        return place
    if len(words) > most:
        words = words[: most - 1] + "…"
    return f"{place} ({words})"


def end(perform, *arguments):
    """Carry out a command, print its report and end with its exit code; what it raises is shown as one sentence.

    So is Ctrl-C, with the exit code 130."""
    try:
        report, good = perform(*arguments)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who presses the keys again sees this sentence, too
        print("stopped; run the same command again, nothing is lost", file=sys.stderr)
        sys.exit(STOPPED)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter shows its code
    print("\n".join(report))
    sys.exit(0 if good else 1)
