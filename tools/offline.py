"""The lessons for a room without a network: everything that they need, in one folder, for example on a stick.

    python tools/offline.py DIR [--lang de] [--platform NAME] [--extra-index-url URL]

This needs the network. It puts into DIR the packages for this platform or the one named, the weights from the hub
(or from the cache), their hashes checked, and the project without the solutions. Run it again to continue after a
break, for the latest notebooks, or for a further platform. --lang is what install.py speaks and the language of the
lesson that opens first. For Linux without a GPU, the index https://download.pytorch.org/whl/cpu keeps CUDA out.

Then, without a network, on each computer with Python 3.11: python3.11 DIR/install.py [FOLDER]
"""

import argparse
import errno
import filecmp
import json
import shutil
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile, is_zipfile

import install
from notebook_files import directions
from notebook_files.layout import LANGUAGES, ROOT

PYTHON = "3.11"
PLATFORMS = {  # as install.py calls them → uv's name, pip's tags
    "windows-amd64": ("x86_64-pc-windows-msvc", ["win_amd64"]),
    "darwin-arm64": ("aarch64-apple-darwin", ["macosx_14_0_arm64"]),
    "linux-x86_64": ("x86_64-manylinux_2_28", [f"manylinux_2_{n}_x86_64" for n in range(28, 4, -1)]),
}
PLATFORMS["linux-x86_64"][1].extend(f"manylinux{year}_x86_64" for year in (2014, 2010, 1))
PROJECT = ("LICENSE", "README.md", "helpers", "notebooks", "pyproject.toml", "requirements.txt", "tools")
NOT_FOR_STUDENTS = shutil.ignore_patterns("solutions", "__pycache__", ".*", "predictions.json*", "*.egg-info")


def fill(stick, lang="en", platform=None, index=None, root=ROOT):
    """Fill a folder; return the lines of the report. Raises ValueError or OSError with one sentence for the teacher."""
    contents = begin(stick)
    platform = platform or install.HERE
    wheels = stick / "wheels" / platform
    if index:
        ask(index)
    fetch(wheels, packages(root), platform, ["--extra-index-url", index] if index else [])
    weights = copy_weights(stick / "weights" / "hub")
    copy_project(root, stick / "project")
    shutil.copyfile(install.__file__, stick / "install.py")
    unpacked = sum(part.file_size for wheel in wheels.glob("*.whl") for part in ZipFile(wheel).infolist())
    contents |= {"python": PYTHON, "lang": lang, "platforms": contents.get("platforms", {}) | {platform: unpacked}}
    files = sorted(path for part in ("project", "weights", "wheels") for path in (stick / part).rglob("*"))
    sizes = {path.relative_to(stick).as_posix(): path.stat().st_size for path in files if path.is_file()}
    (stick / "stick.json").write_text(json.dumps(contents | {"files": sizes}, indent=1), encoding="utf8")
    names = ", ".join(weights) or "none, so the lessons use the bundled models; run this again for the others"
    return [
        f"{stick}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.0f} MB, for {', '.join(contents['platforms'])}",
        f"weights: {names}",
        f"now, on each computer: python{PYTHON} {stick / 'install.py'}",
    ]


def begin(stick):
    """Return what the folder's stick.json says, and take its list of files away until all is there.

    Raises ValueError for a folder that holds something else."""
    record = stick / "stick.json"
    if stick.exists() and not record.exists() and (not stick.is_dir() or any(stick.iterdir())):
        raise ValueError(f"{stick} is not empty; name a new folder on it")
    try:
        contents = json.loads(record.read_text(encoding="utf8"))
    except (OSError, ValueError):
        contents = {}
    contents.pop("files", None)
    stick.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(contents), encoding="utf8")
    return contents


def ask(index):
    """Raise ValueError if an index does not answer: pip would wait for it again with each of about 130 packages."""
    try:
        urllib.request.urlopen(index, timeout=10).close()
    except urllib.error.HTTPError:
        pass  # an answer, too
    except OSError as error:
        without = "without it, Linux fetches gigabytes of CUDA"
        raise ValueError(f"{index} does not answer ({error}); try again later; {without}") from None


def packages(root):
    """Return what pip is to fetch: the readers' pins, and what builds the project itself."""
    lines = (root / "requirements.txt").read_text(encoding="utf8").splitlines()
    build = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf8"))["build-system"]["requires"]
    return [line for line in lines if "==" in line] + build + ["editables"]  # hatchling needs it for -e


def fetch(wheels, wanted, platform, index):
    """Download packages with all that they need as wheels. Raises ValueError if that fails; what is there stays."""
    for wheel in wheels.glob("*.whl"):
        if not is_zipfile(wheel):  # cut off
            wheel.unlink()
    options = ["--python-version", PYTHON]  # packages for the first 3.11 as well as for the one that runs this
    if platform != install.HERE:
        wanted, tags = resolve(wanted, platform, index), PLATFORMS[platform][1]
        options += ["--no-deps", *(word for tag in tags for word in ("--platform", tag))]
    print(f"fetching the packages for {platform}, a few minutes", flush=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
    pip += ["--only-binary=:all:", "--dest", str(wheels)]
    if subprocess.run([*pip, *options, *index, *wanted]).returncode:
        raise ValueError(f"pip could not fetch the packages, see above; {wheels} keeps what is there: run this again")


def resolve(wanted, platform, index):
    """Return the exact versions of all packages that another platform needs; pip knows only its own platform's."""
    if find_spec("uv") is None:
        raise ValueError("for another platform, uv is missing; install it with: pip install -r tests/requirements.txt")
    options = ["--python-version", PYTHON, "--python-platform", PLATFORMS[platform][0], "--no-annotate", "--no-header"]
    uv = [sys.executable, "-m", "uv", "pip", "compile", "-q", *options, *index, "--index-strategy=unsafe-best-match"]
    result = subprocess.run([*uv, "-"], input="\n".join(wanted), stdout=subprocess.PIPE, encoding="utf8")
    if result.returncode:
        raise ValueError(f"uv found no packages for {platform}, see above")
    return result.stdout.split("\n")[:-1]


def copy_weights(cache):
    """Copy the checkpoints into a cache of plain files, as a stick knows no links; return the titles of those there."""
    from huggingface_hub import constants, try_to_load_from_cache

    from helpers import models

    titles = []
    tell = lambda sentence: print(sentence.partition(", so you see")[0], flush=True)  # the rest is for a notebook
    for name, entry in models.CHECKPOINTS.items():
        if models.load(name, tell=tell).name != name:
            continue  # it has said why
        for file in models.FILES:
            path = Path(try_to_load_from_cache(entry["repo"], file, revision=entry["revision"]))
            target = cache / path.relative_to(constants.HF_HUB_CACHE)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or not filecmp.cmp(path, target, shallow=False):
                shutil.copyfile(path, target)
        commit = target.parent.name
        if commit != entry["revision"]:  # a branch
            reference = target.parents[2] / "refs" / entry["revision"]
            reference.parent.mkdir(exist_ok=True)
            reference.write_text(commit)
        titles.append(entry["title"])
    return titles


def copy_project(root, target):
    """Copy the project for students, in place of what an earlier copy holds."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for name in PROJECT:
        if (root / name).is_dir():
            shutil.copytree(root / name, target / name, ignore=NOT_FOR_STUDENTS, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(root / name, target / name)


def arguments():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", type=Path, help="a new folder, or one that was filled before")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="the language of the room; English without")
    parser.add_argument("--platform", choices=list(PLATFORMS), help="the students' computers, if they differ from this")
    parser.add_argument("--extra-index-url", metavar="URL", help="a further index of packages, as for pip")
    return parser


def perform(args):
    """Carry out the command; return the lines of its report and whether all went well."""
    try:
        return fill(args.directory, args.lang, args.platform, args.extra_index_url), True
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise ValueError(f"{args.directory} is full; what is there stays, and more space lets it go on") from None
        raise


def main(words=None):
    """Carry out the command of the command line, or of a list of words, and end with its exit code."""
    directions.end(perform, arguments().parse_args(words))


if __name__ == "__main__":
    main()
