"""A JupyterHub on this machine on which several students run a lesson at the same time.

    python -m tests.jupyterhub [--users 4] [--lessons 01_layernorm 04_residual_stream] [--before "taskset -c 0"]

It starts a hub and its proxy on the loopback interface, logs the students in through the hub's own form, starts
their servers, and lets all of them run each lesson at once, cell by cell over the websocket, as JupyterLab does.
It prints for each student the time and the peak memory, and what is wrong with the outputs. Exit code 1 if anything is.

Run it from the project's folder. Beside requirements.txt it needs Linux, `pip install jupyterhub==6.1.1` and, with
Node.js 20 or later, `npm install -g configurable-http-proxy@5.3.0`. CI does not run it: it has no such Node.js, and
installing would take longer than the test. `pytest -m jupyterhub` tries it with two students and a notebook of three
cells.

The hub is for this trial only: all students run as the user who starts it. SimpleLocalProcessSpawner tells a server
its limits of 2 GB and one core and enforces neither; the systemd spawner of The Littlest JupyterHub and Kubernetes do.
`--before` puts a command that limits (taskset, systemd-run) in front of each server.
"""

import argparse
import sys
from pathlib import Path

from tests.jupyterhub import trial

LESSONS = Path(__file__).parents[2] / "notebooks" / "en"


def main():
    """Carry out the command of the command line and end with its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.jupyterhub", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=4, help="how many students (4)")
    parser.add_argument("--lessons", nargs="+", default=["01_layernorm", "04_residual_stream"], metavar="LESSON")
    parser.add_argument("--before", default="", metavar="COMMAND", help="put in front of each student's server")
    args = parser.parse_args()
    paths = [LESSONS / f"{name}.ipynb" for name in args.lessons]
    try:
        report, good = trial.run(paths, args.users, args.before)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    print("\n".join(report))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
