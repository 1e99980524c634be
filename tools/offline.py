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
    "linux-x86_64": (
        "x86_64-manylinux_2_28",
        [
            *(f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)),
            "manylinux2014_x86_64",
            "manylinux2010_x86_64",
            "manylinux1_x86_64",
        ],
    ),
}
PROJECT = ("LICENSE", "README.md", "helpers", "notebooks", "pyproject.toml", "requirements.txt", "tools")
NOT_FOR_STUDENTS = shutil.ignore_patterns("solutions", "__pycache__", ".*", "predictions.json*", "*.egg-info")
WEIGHTS = ("model.safetensors", "config.json", "tokenizer.json")  # what a checkpoint is loaded from


def fill(stick, lang="en", platform=None, index=None, root=ROOT):
    """Fill a folder; return the lines of the report. Raises ValueError or OSError with one sentence for the teacher.

    lang: of the room; platform: a key of PLATFORMS, this computer's without; index: the URL of a further index of
    packages; root: the project to copy.
    """
    contents = begin(stick)
    platform = platform or install.HERE
    wheels = stick / "wheels" / platform
    options = []
    if index:
        ask(index)
        options = ["--extra-index-url", index]
    fetch(wheels, packages(root), platform, options)
    titles = copy_weights(stick / "weights" / "hub")
    copy_project(root, stick / "project")
    shutil.copyfile(install.__file__, stick / "install.py")

    contents["python"] = PYTHON
    contents["lang"] = lang
    contents["platforms"] = contents.get("platforms", {}) | {platform: unpacked_size(wheels)}
    contents["files"] = sizes_of_files(stick)
    write_record(stick, contents)
    return report(stick, contents, titles)


def begin(stick):
    """Return what the folder's stick.json says, and take its list of files away until all is there.

    Raises ValueError for a folder that holds something else.
    """
    if stick.exists() and not (stick / "stick.json").exists() and not install.is_empty_folder(stick):
        raise ValueError(f"{stick} is not empty; name a new folder on it")
    contents = install.read_contents(stick)
    contents.pop("files", None)
    stick.mkdir(parents=True, exist_ok=True)
    write_record(stick, contents)
    return contents


def write_record(stick, contents):
    """Write stick.json, by which install.py knows what the folder holds."""
    (stick / "stick.json").write_text(json.dumps(contents, indent=1), encoding="utf8")


def unpacked_size(wheels):
    """Return how many bytes the packages of a folder take once they are installed."""
    size = 0
    for wheel in wheels.glob("*.whl"):
        with ZipFile(wheel) as archive:
            size += sum(part.file_size for part in archive.infolist())
    return size


def sizes_of_files(stick):
    """Return name → bytes for each file that install.py may need; the names have slashes on every system."""
    sizes = {}
    for part in ("project", "weights", "wheels"):
        for path in sorted((stick / part).rglob("*")):
            if path.is_file():
                sizes[path.relative_to(stick).as_posix()] = path.stat().st_size
    return sizes


def report(stick, contents, titles):
    """Return the lines that tell the teacher what the folder holds and what to do with it."""
    sizes = contents["files"]
    weights = ", ".join(titles) or "none, so the lessons use the bundled models; run this again for the others"
    return [
        f"{stick}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.0f} MB, for {', '.join(contents['platforms'])}",
        f"weights: {weights}",
        f"now, on each computer: python{PYTHON} {stick / 'install.py'}",
    ]


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
    pins = [line for line in lines if "==" in line]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf8"))
    return pins + project["build-system"]["requires"]


def fetch(wheels, wanted, platform, index):
    """Download packages with all that they need as wheels. Raises ValueError if that fails; what is there stays.

    wheels: the folder for them; wanted: requirements as pip reads them; platform: as in `fill`; index: pip's options.
    """
    for wheel in wheels.glob("*.whl"):
        if not is_zipfile(wheel):  # cut off
            wheel.unlink()
    options = ["--python-version", PYTHON]  # packages for the first 3.11 as well as for the one that runs this
    if platform != install.HERE:
        wanted = resolve(wanted, platform, index)
        options.append("--no-deps")
        _, tags = PLATFORMS[platform]
        for tag in tags:
            options += ["--platform", tag]
    print(f"fetching the packages for {platform}, a few minutes", flush=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
    pip += ["--only-binary=:all:", "--dest", str(wheels)]
    if subprocess.run([*pip, *options, *index, *wanted]).returncode:
        raise ValueError(f"pip could not fetch the packages, see above; {wheels} keeps what is there: run this again")


def resolve(wanted, platform, index):
    """Return the exact versions of all packages that another platform needs; pip knows only its own platform's.

    Raises ValueError if uv, which knows them, is missing or finds none.
    """
    if find_spec("uv") is None:
        raise ValueError("for another platform, uv is missing; install it with: pip install -r tests/requirements.txt")
    name, _ = PLATFORMS[platform]
    uv = [sys.executable, "-m", "uv", "pip", "compile", "-q", "--no-annotate", "--no-header"]
    uv += ["--python-version", PYTHON, "--python-platform", name, *index, "--index-strategy=unsafe-best-match", "-"]
    result = subprocess.run(uv, input="\n".join(wanted), stdout=subprocess.PIPE, encoding="utf8")
    if result.returncode:
        raise ValueError(f"uv found no packages for {platform}, see above")
    return result.stdout.splitlines()


def copy_weights(cache):
    """Copy the checkpoints into a cache of plain files, as a stick knows no links; return the titles of those there."""
    from helpers import models

    titles = []
    for name, entry in models.CHECKPOINTS.items():
        if models.load(name, tell=tell).name == name:
            copy_checkpoint(entry, cache)
            titles.append(entry["title"])
        else:  # it has said why, in words that are meant for a notebook
            print(f"{entry['title']} is left out; when that is mended, run this command again, not a cell", flush=True)
    return titles


def tell(sentence):
    """Show the teacher what loading a model has to say."""
    print(f"a lesson would say: {sentence}", flush=True)


def copy_checkpoint(entry, cache):
    """Copy a checkpoint that lies in the hub's cache on this computer; entry: its repo and its revision."""
    from huggingface_hub import constants, try_to_load_from_cache

    for file in WEIGHTS:
        path = Path(try_to_load_from_cache(entry["repo"], file, revision=entry["revision"]))
        target = cache / path.relative_to(constants.HF_HUB_CACHE)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or not filecmp.cmp(path, target, shallow=False):
            shutil.copyfile(path, target)
    snapshot = target.parent
    if snapshot.name != entry["revision"]:  # a branch; its file in `refs` says which commit it means
        reference = snapshot.parents[1] / "refs" / entry["revision"]
        reference.parent.mkdir(exist_ok=True)
        reference.write_text(snapshot.name)


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
