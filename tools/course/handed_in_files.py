"""The files that a teacher names: folders are looked through and zip files unpacked, one inside of another too."""

import os
import shutil
import time
import unicodedata
import zipfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from course import platform_exports
from notebook_files import cell_sources, layout

LARGEST_ZIP = 3_000_000_000  # bytes, unpacked
DEPTH = 2  # zip files inside of one another that are unpacked
# folders that are no student's name
NO_NAMES = ("assignments", "solutions", "notebooks", "submitted", "unpacked", "predictions", *layout.LANGUAGES)
ASK_FOR_ZIP = "ask the student for the notebook itself or for a new zip file without a password"


@dataclass(frozen=True)
class HandedIn:
    """A file that was handed in.

    path: where it can be read. folder: the student's folder as it was found, or None for a loose file. name: the name
    of the file, or of the loose zip file that it came in. around: the names of the folders around it, the nearest
    first. download: the folder or zip file that the teacher named. inside: its path in there. problem: why it cannot be
    read, or ""."""

    path: Path
    folder: str | None
    name: str
    around: tuple
    download: str
    inside: str
    problem: str = ""


def files_of(paths, room):
    """Return a HandedIn for each file that `paths` name or hold, in the order of their names.

    A zip file counts as a folder of its name. It is unpacked below the folder `room`."""
    found = []
    for path in paths:
        if path.is_dir():
            found += files_in(Tree(path, around_of(path), str(path.resolve())), room, DEPTH)
        elif is_zip(path):
            found += files_of_zip(path, around_of(path.resolve().parent), str(path.resolve()), room)
        else:
            parent = path.resolve().parent
            found.append(decoded(HandedIn(path, None, path.name, around_of(parent), str(parent), path.name)))
    return told_apart(found)


@dataclass(frozen=True)
class Tree:
    """A folder to look through. folder: the student's folder that it belongs to, or None. speaking: the loose zip file
    whose name speaks for what is inside, or None."""

    root: Path
    around: tuple
    download: str
    inside: str = ""
    folder: str | None = None
    speaking: str | None = None


def around_of(folder):
    """Return the names of a folder and of those around it."""
    folder = folder.resolve()
    return tuple(part.name for part in (folder, *folder.parents) if part.name)


def is_zip(path):
    return path.suffix.lower() == ".zip"


def files_of_zip(path, around, download, room):
    """Return the files of a zip file that the teacher named."""
    target, problems = unpack(path, room)
    if target is None:
        return [HandedIn(path, None, path.name, around, download, path.name, problems[0][1])]
    tree = Tree(target, (target.name, *around), download)
    return files_in(tree, room, DEPTH - 1) + broken_parts(tree, path, problems)


def broken_parts(tree, path, problems):
    """Return a HandedIn for each part of a zip file that could not be unpacked."""
    found = []
    for inside, problem in problems:
        parts = Path(inside).parts
        folder = student_folder(parts[:-1], 0) if tree.folder is None else tree.folder
        name = tree.speaking or (parts[-1] if parts else path.name)
        found.append(decoded(HandedIn(path / inside, folder, name, tree.around, tree.download, inside, problem)))
    return found


def files_in(tree, room, depth):
    """Return the files of a folder and of the zip files in it."""
    files = [path for path in sorted(tree.root.rglob("*")) if path.is_file() and not is_hidden(path, tree.root)]
    level = level_of_students(files, tree)
    found = []
    for path in files:
        parts = path.relative_to(tree.root).parts
        folder = tree.folder
        if folder is None and (tree.speaking is None or level is not None):
            folder = student_folder(parts[:-1], level or 0)
            if folder is not None and tree.speaking is not None and platform_exports.read_name(folder) is None:
                folder = (
                    f"{Path(tree.speaking).stem} {folder}"  # whose the folders of a loose zip file are is not known
                )
        around = (*reversed(parts[:-1]), *tree.around)
        inside = "/".join(filter(None, (tree.inside, *parts)))
        handed = decoded(HandedIn(path, folder, tree.speaking or path.name, around, tree.download, inside))
        if not is_zip(path) or handed.problem:
            found.append(handed)
        elif depth == 0:
            found.append(replace(handed, problem=f"cannot be unpacked, a zip file inside of others: {ASK_FOR_ZIP}"))
        else:
            found += files_of_inner_zip(handed, room, depth)
    return found


def files_of_inner_zip(handed, room, depth):
    """Return the files of a zip file that lies in a folder or zip file."""
    target, problems = unpack(handed.path, room)
    if target is None:
        return [replace(handed, problem=problems[0][1])]
    speaking = handed.name if handed.folder is None else None
    tree = Tree(target, (target.name, *handed.around), handed.download, handed.inside, handed.folder, speaking)
    return files_in(tree, room, depth - 1) + broken_parts(tree, handed.path, problems)


def is_hidden(path, root):
    """Return whether a file is none of a student's: hidden, a Mac's own, or a lock."""
    parts = path.relative_to(root).parts
    return path.suffix == ".lock" or any(part.startswith((".", "__MACOSX")) for part in parts)


def level_of_students(files, tree):
    """Return at which depth the students' folders lie: 0 at the top, 1 in the only folder at the top.

    None says that the folders of a loose zip file are not several students'."""
    places = [path.relative_to(tree.root).parts[:-1] for path in files]
    tops = {place[0] for place in places if place and place[0] not in NO_NAMES}
    if len(tops) == 1 and all(places):
        below = {place[1] for place in places if len(place) > 1 and place[1] not in NO_NAMES}
        if len(below) > 1 and all(len(place) > 1 for place in places):
            return 1
    return None if tree.speaking is not None and len(tops) < 2 else 0


def student_folder(folders, level):
    """Return the folder that names the student: a platform's, else the first at this level that can be a name."""
    for folder in folders:
        if platform_exports.read_name(folder):
            return folder
    for folder in folders[level:]:
        if folder not in NO_NAMES:
            return folder
    return None


def told_apart(found):
    """Return the files with folders told apart that several zip files have as their only folder.

    "homework" in ada.zip and "homework" in bo.zip is not one student."""
    downloads = {}
    for handed in found:
        if handed.folder is not None and handed.download.lower().endswith(".zip"):
            downloads.setdefault(handed.download, set()).add(handed.folder)
    alone = Counter(next(iter(folders)) for folders in downloads.values() if len(folders) == 1)
    result = []
    for handed in found:
        alone_in_it = len(downloads.get(handed.download, ())) == 1
        is_shared = alone_in_it and alone[handed.folder] > 1 and platform_exports.read_name(handed.folder) is None
        apart = f"{Path(handed.download).stem} {handed.folder}" if is_shared else handed.folder
        result.append(replace(handed, folder=apart))
    return result


def decoded(handed):
    """Return the same with names that can be written, and the problem if a name cannot be read as Unicode."""
    problem = handed.problem
    if not problem and not all(map(is_unicode, (handed.inside, handed.name, handed.folder or ""))):
        guess = readable(handed.inside)
        problem = f"its name cannot be read (perhaps {guess}): give the file or folder a new name and collect it again"
    return replace(
        handed,
        folder=None if handed.folder is None else readable(handed.folder),
        name=readable(handed.name),
        around=tuple(map(readable, handed.around)),
        inside=readable(handed.inside),
        problem=problem,
    )


def is_unicode(name):
    try:
        name.encode("utf8")
    except UnicodeEncodeError:
        return False
    return True


def readable(name):
    """Return a name in NFC; bytes that are no UTF-8 are read as Windows writes them."""
    if not is_unicode(name):
        name = name.encode("utf8", "surrogateescape").decode("cp1252", "replace")
    return unicodedata.normalize("NFC", name)


def unpack(path, room):
    """Unpack a zip file in place of what was unpacked before.

    Return the folder, or None if nothing can be unpacked, and a list of (name inside, why) for what could not be."""
    target = room / cell_sources.digest(readable(str(path.resolve()))) / readable(path.stem).strip(" .")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if sum(part.file_size for part in parts) > LARGEST_ZIP:
                return None, [("", f"cannot be unpacked: larger than {LARGEST_ZIP / 1e9:g} GB unpacked")]
            problems = [(part.filename, why) for part in parts if (why := unpack_part(archive, part, target))]
    except Exception:  # zipfile raises many kinds for a damaged file
        return None, [("", f"cannot be unpacked, it is damaged or no zip file: {ASK_FOR_ZIP}")]
    locked = [why for _, why in problems if "password" in why]
    if locked and len(problems) == sum(not part.is_dir() for part in parts):
        return None, [("", locked[0])]
    return target, problems


def unpack_part(archive, part, target):
    """Unpack one file of a zip file; return why it could not be, or ""."""
    part.filename = name_in_zip(part)
    if part.flag_bits & 1:
        return f"cannot be unpacked, it has a password: {ASK_FOR_ZIP}"
    with suppress(OSError, ValueError):
        while not part.is_dir() and (target / part.filename).exists():
            place = Path(part.filename)  # two files of one name; neither replaces the other
            part.filename = str(place.with_name(f"{place.stem} (2){place.suffix}"))
    try:
        file = archive.extract(part, target)  # never outside of the folder, whatever the name
    except Exception:  # as above; a name too long, too
        return f"cannot be unpacked, it is damaged: {ASK_FOR_ZIP}"
    with suppress(OSError, ValueError, OverflowError):
        seconds = time.mktime((*part.date_time, 0, 0, -1))
        os.utime(file, (seconds, seconds))
    return ""


def name_in_zip(part):
    """Return the name of a file in a zip file; a Mac writes UTF-8 without saying so."""
    name = part.filename
    if not part.flag_bits & 0x800:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf8")
    return unicodedata.normalize("NFC", name)
