"""Install the lessons from the folder in which this file lies, without a network. Needs Python and nothing else.

    python3.11 install.py [FOLDER] [--lang en|de|sv]

FOLDER is made anew, without it norm-lessons in your home folder. It gets the notebooks, the weights and an
environment of its own; the file `start` in it opens the first lesson. When something fails, it is removed again.
`offline.py` puts this file and what it needs there.
"""

# An older Python must be able to read this file, so that it can say which Python is needed.

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

STICK = Path(__file__).resolve().parent
HERE = f"{platform.system()}-{platform.machine()}".lower()  # windows-amd64, darwin-arm64, linux-x86_64
WINDOWS = os.name == "nt"
TEXTS = {
    "en": {
        "python": "These packages are for Python {there}, and this is Python {here}; start install.py with {there}.",
        "platform": "The packages here are for {there}; this computer is {here}.",
        "incomplete": "{name} is missing or cut off here; fill this folder once more with tools/offline.py.",
        "taken": "{folder} is there already, so nothing was changed; name another folder at the end of the command.",
        "space": "{folder} needs {need} MB, and only {free} MB are free.",
        "wait": "Installing into {folder}; this takes a few minutes.",
        "failed": "The installation failed, and {folder} was removed again: {why}",
        "stopped": "Stopped; {folder} was removed again.",
        "done": "Done. This starts the lessons: {start}",
    },
    "de": {
        "python": "Diese Pakete sind für Python {there}, aber dies ist Python {here}; starte install.py mit {there}.",
        "platform": "Die Pakete hier sind für {there}; dieser Rechner braucht die für {here}.",
        "incomplete": "{name} fehlt hier oder ist unvollständig; fülle diesen Ordner noch einmal mit tools/offline.py.",
        "taken": "{folder} gibt es schon, also wurde nichts geändert; nenne am Ende des Befehls einen anderen Ordner.",
        "space": "{folder} braucht {need} MB, aber nur {free} MB sind frei.",
        "wait": "Die Installation nach {folder} läuft; das dauert einige Minuten.",
        "failed": "Die Installation ist fehlgeschlagen, und {folder} wurde wieder entfernt: {why}",
        "stopped": "Abgebrochen; {folder} wurde wieder entfernt.",
        "done": "Fertig. So starten die Lektionen: {start}",
    },
    "sv": {
        "python": "De här paketen är för Python {there}, och det här är Python {here}; kör install.py med {there}.",
        "platform": "Paketen här är för {there}; den här datorn är {here}.",
        "incomplete": "{name} saknas här eller är ofullständig; fyll mappen en gång till med tools/offline.py.",
        "taken": "{folder} finns redan, så ingenting har ändrats; ange en annan mapp sist i kommandot.",
        "space": "{folder} behöver {need} MB, men bara {free} MB är lediga.",
        "wait": "Installerar i {folder}; det tar några minuter.",
        "failed": "Installationen misslyckades, och {folder} har tagits bort igen: {why}",
        "stopped": "Installationen avbröts, och {folder} har tagits bort igen.",
        "done": "Klart. Så startar du lektionerna: {start}",
    },
}
UNIX_START = """#!/bin/sh
cd "$(dirname "$0")"
export HF_HOME="$PWD/weights" HF_HUB_OFFLINE=1
exec .venv/bin/python -m jupyterlab --ServerApp.root_dir=. notebooks/{lang}/01_layernorm.ipynb "$@"
"""
# the quotation marks in `set` keep a folder's & and ( ) from being read as parts of the command
WINDOWS_START = r"""@cd /d "%~dp0"
@set "HF_HOME=%~dp0weights"
@set HF_HUB_OFFLINE=1
@.venv\Scripts\python -m jupyterlab --ServerApp.root_dir=. notebooks/{lang}/01_layernorm.ipynb %*
"""


class Problem(Exception):
    """What keeps from installing: the key of its sentence and the values in it."""

    def __init__(self, key, **values):
        super().__init__(key)
        self.key = key
        self.values = values


def read_contents(stick):
    """Return what the stick's stick.json says, or {} if there is none that can be read."""
    try:
        return json.loads((stick / "stick.json").read_text(encoding="utf8"))
    except (OSError, ValueError):
        return {}


def check(stick, contents, folder):
    """Raise the Problem, if there is one, before anything is written."""
    here = "{}.{}".format(*sys.version_info)
    if here != contents["python"]:
        raise Problem("python", there=contents["python"], here=here)
    if HERE not in contents["platforms"]:
        raise Problem("platform", there=", ".join(contents["platforms"]), here=HERE)
    for name, size in contents["files"].items():
        if needed(name) and not is_whole(stick / name, size):
            raise Problem("incomplete", name=name)
    if folder.exists() and not is_empty_folder(folder):
        raise Problem("taken", folder=folder)
    need = space(contents)
    existing = next(part for part in folder.parents if part.exists())
    free = shutil.disk_usage(existing).free
    if free < need:
        raise Problem("space", folder=folder, need=need // 10**6, free=free // 10**6)


def needed(name):
    """Return whether this computer needs a file of the stick: not the packages of other platforms."""
    return not is_package(name) or name.startswith(f"wheels/{HERE}/")


def is_package(name):
    """Return whether a file of the stick is a package for pip, of any platform."""
    return name.startswith("wheels/")


def is_whole(path, size):
    """Return whether a file is there and has its size in bytes."""
    return path.is_file() and path.stat().st_size == size


def is_empty_folder(path):
    """Return whether a path that exists is a folder without anything in it."""
    return path.is_dir() and not any(path.iterdir())


def space(contents):
    """Return how many bytes the installed folder takes: the files that are copied, and the packages unpacked."""
    copied = sum(size for name, size in contents["files"].items() if not is_package(name))
    return contents["platforms"][HERE] + copied


def install(stick, contents, folder, lang):
    """Make the folder; return the start file. Raises OSError, or CalledProcessError with pip's words if pip fails."""
    copy_files(stick, contents, folder)
    venv.create(folder / ".venv", symlinks=not WINDOWS, with_pip=True)
    install_packages(stick / "wheels" / HERE, folder)
    return write_start(folder, lang)


def copy_files(stick, contents, folder):
    """Copy all but the packages: what lies in `project` goes to the top of the folder, the weights keep their place."""
    for name in contents["files"]:
        if is_package(name):
            continue
        target = folder / (name[len("project/") :] if name.startswith("project/") else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(stick / name, target)


def install_packages(wheels, folder):
    """Install requirements.txt into the folder's environment from a folder of packages, and from nowhere else."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "PYTHON"))}
    environment["PIP_CONFIG_FILE"] = os.devnull  # a configured index would be asked
    environment["PYTHONIOENCODING"] = "utf8"  # what pip says would come in the encoding of the computer's language
    python = folder / ".venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    command = [python, "-m", "pip", "install", "-q", "--no-index", "--find-links", wheels]
    command += ["--no-compile"]  # without it, pip compiles thousands of modules that no lesson imports
    command += ["-r", "requirements.txt"]
    subprocess.run(command, cwd=folder, env=environment, check=True, stderr=subprocess.PIPE)


def write_start(folder, lang):
    """Write the file that starts the first lesson; return its path."""
    start = folder / ("start.bat" if WINDOWS else "start.sh")
    text = WINDOWS_START if WINDOWS else UNIX_START
    start.write_text(text.format(lang=lang), encoding="utf8")
    start.chmod(0o755)
    return start


def why(error):
    """Return the line in which a process said why it failed: its last error, or its last line; else the error."""
    said = getattr(error, "stderr", None) or getattr(error, "output", None)
    if not said:
        return str(error)
    lines = [line.strip() for line in said.decode("utf8", errors="replace").strip().split("\n")]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines)[-1]


def arguments():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=Path.home() / "norm-lessons")
    parser.add_argument("--lang", choices=list(TEXTS), help="of the sentences and the lessons; the teacher's without")
    return parser


def main(words=None, stick=STICK):
    """Install from the stick as the command line, or a list of words, says."""
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter shows its code
    args = arguments().parse_args(words)
    folder = args.folder.expanduser().resolve()
    contents = read_contents(stick)
    lang = args.lang or contents.get("lang", "en")

    def say(key, **values):
        return TEXTS[lang][key].format(**values)

    if "files" not in contents:  # it is written last
        sys.exit(say("incomplete", name="stick.json"))
    try:
        check(stick, contents, folder)
    except Problem as problem:
        sys.exit(say(problem.key, **problem.values))
    print(say("wait", folder=folder), flush=True)
    try:
        start = install(stick, contents, folder, lang)
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(say("failed", folder=folder, why=why(error)))
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(say("stopped", folder=folder))
    print(say("done", start=start))


if __name__ == "__main__":
    main()
