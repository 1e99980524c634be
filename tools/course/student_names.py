"""Whose a file is: what the name of a folder or file says about a student, and which of them are one person.

Two people are never taken for one. Names that are spelled alike are told apart by the platform's number or by the
number of a copy, "(2)"; where that cannot tell whether two are one person they stay apart, the report and the table of
marks say so, and the teacher decides in names.csv.
"""

import re
import unicodedata
from collections import defaultdict
from dataclasses import asdict, dataclass, fields
from itertools import combinations, count

from course import platform_exports
from course.handed_in_files import NO_NAMES
from notebook_files import layout

ATTEMPT = "~"  # ada~2 is Ada's second attempt
BETWEEN = r"[\s_.-]"
EDGE_BEFORE, EDGE_AFTER = r"(?<![^\W_])", r"(?![^\W_])"  # where a word begins and ends
LANGUAGE_AT_END = rf"{BETWEEN}+({'|'.join(layout.LANGUAGES)})$"
PREDICTIONS = "predictions"

PLAIN, COPY, LOOSE = "plain", "copy", "loose"  # kinds of names, beside those of the platforms
COPIES = [  # what browsers, editors and systems add to the name of a copy; the group is its number
    re.compile(r"[\s_]*\((\d+)\)$"),
    re.compile(r"-(copy\d*)$", re.I),
    re.compile(r"\s+-\s+(copy|kopie|kopia)$", re.I),
]
COPIES_OF_FILES = [re.compile(rf"(?:^|{BETWEEN}+)((?:copy|kopie|kopia)(?:\s\d+)?)$", re.I)]
COPY_BEFORE = re.compile(r"^(copy of|kopie von|kopia av)\s+", re.I)


@dataclass(frozen=True)
class Identity:
    """What a name says about a student.

    name: the student's name as found, without marks; "" if the marking is blind. mark: what else tells who it is, a
    number, or "". kind: PLAIN, a name alone; COPY, a folder whose name ends in the number of a copy; LOOSE, a file that
    does, or that names nobody; or the platform. found: the folder's or file's name as found."""

    name: str
    mark: str
    kind: str
    found: str

    @property
    def key(self):
        """What two files of one student have in common."""
        return (spelled(self.name), self.kind, self.mark)

    def record(self):
        return asdict(self)


def from_record(entry):
    """Return the Identity that a record holds, or None."""
    values = {field.name: entry.get(field.name) for field in fields(Identity)}
    return Identity(**values) if all(isinstance(value, str) for value in values.values()) else None


def spelled(name):
    """Return a name without the differences that platforms make in it: Moodle writes spaces, others underscores."""
    return re.sub(r"[\s_]+", " ", unicodedata.normalize("NFC", name)).strip(" .-")


def plain(text):
    """Return a name as a folder may be called."""
    return re.sub(r"[^\w.@-]+", "_", unicodedata.normalize("NFC", text)).strip("_.-")[:80].rstrip("_.-")


# what a name says


def identity_of(handed, lessons):
    """Return the Identity of a HandedIn: by its folder, else by its name, else by the folders around it.

    lessons: the names of the course's lessons, as 01_layernorm. Raises ValueError if nothing names a student."""
    if handed.folder is not None:
        found = of_folder(handed.folder, lessons)
    else:
        found = of_file(handed.name, handed.around, lessons)
    if found is None:
        raise ValueError("neither the file nor its folder names a student: put it in a folder with the student's name")
    return found


def of_folder(folder, lessons):
    """Return the Identity that a folder's name gives, or None."""
    if exported := platform_exports.read_name(folder):
        return of_platform(exported, folder)
    text = re.sub(rf"{ATTEMPT}\d+$", "", folder)  # as a course names its own folders
    text, mark = without_copy(text, COPIES)
    text = without_lesson(text, lessons)
    if not plain(text) or text in NO_NAMES:
        return None
    return Identity(text, mark, COPY if mark else PLAIN, folder)


def of_platform(exported, found):
    return Identity(exported.name, exported.number, exported.platform, found)


def of_file(name, around, lessons):
    """Return the Identity that a file's name gives or, if it holds no student's name, the folders around it."""
    stem = re.sub(r"\.(ipynb|json|zip|py|pdf|docx|html?|txt)\b.*$", "", name, flags=re.I)
    if exported := platform_exports.read_name(stem):
        return of_platform(exported, name)
    text, mark = without_copy(stem, COPIES + COPIES_OF_FILES)
    rest = without_lesson(text, lessons)
    if plain(rest) and rest not in NO_NAMES:
        return Identity(rest, mark, LOOSE if mark else PLAIN, name)
    beyond = beyond_lesson(stem, lessons)
    for folder in around:
        found = of_folder(folder, lessons)
        if found is not None:
            if found.kind != PLAIN or not beyond:
                return found
            return Identity(found.name, beyond, LOOSE, name)
    return None


def without_copy(text, patterns):
    """Return a name without what was added to a copy, and what that was."""
    marks = []
    changed = True
    while changed:
        changed = False
        for pattern in patterns:
            if match := pattern.search(text):
                marks.insert(0, match[1])
                text = text[: match.start()]
                changed = True
    if match := COPY_BEFORE.search(text):
        marks.append("copy")
        text = text[match.end() :]
    return text, "_".join(marks)


def lesson_pattern(lesson):
    """Return the pattern of a lesson's name as people write it: with or without its number, any sign between."""
    number, *words = lesson.split("_")
    spaced = f"{BETWEEN}*".join(map(re.escape, words))
    return rf"{BETWEEN}*{EDGE_BEFORE}(?:(?:{number}|{number.lstrip('0') or number}){BETWEEN}*)?{spaced}{EDGE_AFTER}"


def without_lesson(text, lessons):
    """Return a name without a lesson's name, and without the language in which an assignment's own name ends.

    01_layernorm-de is such a name; the words de, en and sv of a name elsewhere are the student's."""
    for lesson in lessons:
        text = re.sub(f"{lesson_pattern(lesson)}{LANGUAGE_AT_END}", " ", text, flags=re.I)
        text = re.sub(lesson_pattern(lesson), " ", text, flags=re.I)
    return text.strip(" _.-\t")


def beyond_lesson(stem, lessons):
    """Return what the name of a file that names nobody says beyond the lesson, as the assignment is called itself."""
    for lesson in lessons:
        name = lesson.lstrip("_")
        if stem.startswith(name):
            return stem[len(name) :]
    return stem


def from_path(path, student, lessons):
    """Return the Identity of an attempt of which only the file's path and the name in the course are known.

    It is what a part of the path says, if that gives this name; else the name itself. Older versions cut the words de,
    en and sv out of names."""
    for part in reversed(re.split(r"[/\\]", path)):
        for found in (of_folder(part, lessons), of_file(part, (), lessons)):
            if found is not None and student in (plain(found.name), plain(without_languages(found.name))):
                return found
    return Identity(student, "", PLAIN, student)


def without_languages(name):
    """Return a name as older versions wrote it."""
    return re.sub(rf"(^|{BETWEEN})({'|'.join(layout.LANGUAGES)})(?={BETWEEN}|$)", "", name, flags=re.I)


def possible_names(identity):
    """Return the names under which someone may have been kept."""
    name = identity.name or blind_name(identity)
    return {plain(name), with_mark(name, identity.mark), plain(without_languages(name))}


# who is one person


@dataclass(frozen=True)
class Sighting:
    """Where an Identity was seen. lesson: the name of the lesson that was handed in, or None. download: what it came
    in, or None if that is not known. person: who it is by an earlier decision, or ""."""

    identity: Identity
    lesson: str | None
    download: str | None
    person: str = ""


class People:
    """Who is who: `name` gives the name of a person for an Identity, `doubts` what is not certain about a name."""

    def __init__(self, sightings, rows=()):
        """sightings: all that are known, the oldest first. rows: those of names.csv, (as found, right name)."""
        self.sightings = list(sightings)
        self.lessons, self.downloads, self.identities = defaultdict(set), defaultdict(set), {}
        decided = {}
        for seen in self.sightings:
            key = seen.identity.key
            self.identities.setdefault(key, []).append(seen.identity)
            self.lessons[key] |= {seen.lesson} - {None}
            self.downloads[key] |= {seen.download} - {None}
            if seen.person:
                decided[key] = seen.person
        self.unused = []  # what names.csv names and nobody is called
        self.respelled = {}  # key → the right spelling of a name that several share
        if rows:
            decided |= self.by_rows(rows)
        self.names = dict(decided)
        self.apart, self.joined = [], []
        self.settle(decided)

    def name(self, identity):
        """Return the name of the person, as a folder is called."""
        return self.names[identity.key]

    def by_rows(self, rows):
        """Return key → name, for those that names.csv decides."""
        without_rows = People(self.sightings).names
        decided = {}
        for position, (found, right) in enumerate(rows):
            name = plain(right)
            keys = self.meant(found, without_rows)
            shared = [key for key, seen in self.identities.items() if plain(seen[0].name) == plain(found)]
            if name and keys:
                decided |= dict.fromkeys(keys, name)
            elif name and shared:
                self.respelled |= dict.fromkeys(shared, right)
            elif position > 0:  # the first line may be a heading
                self.unused.append(found)
        return decided

    def meant(self, found, names):
        """Return the keys of those whom a row of names.csv means: as found, as shown, or with the number."""
        exactly = [key for key, seen in self.identities.items() if any(is_found(found, one) for one in seen)]
        shown = [key for key, name in names.items() if name == plain(found)]
        numbered = [key for key, seen in self.identities.items() if any(is_numbered(found, one) for one in seen)]
        if len({key[0] for key in numbered}) > 1:
            numbered = []  # two names that differ in a sign only
        return exactly or shown or numbered

    def base(self, key):
        """Return the name without its mark."""
        return self.respelled.get(key, self.identities[key][0].name)

    def settle(self, decided):
        """Give a name to those that nothing decides, so that no two people have the same."""
        groups = defaultdict(list)
        for key in self.identities:
            groups[spelled(self.base(key)).casefold()].append(key)
        owners = {name.casefold(): name for name in decided.values()}  # name, capitals aside → whose: a name or a key
        for keys in groups.values():
            undecided = [key for key in keys if key not in decided]
            if not undecided:
                continue
            if not self.base(keys[0]):  # blind marking: a number is all there is
                for key in undecided:
                    self.names[key] = self.free_name(key, owners, marked=True)
                continue
            if len(undecided) > 1 and not any(self.are_two(*pair) for pair in combinations(keys, 2)):
                self.join(undecided, owners)
                continue
            for key in undecided:
                self.names[key] = self.free_name(key, owners, marked=len(keys) > 1)
            # whom names.csv decides is no longer in doubt
            names = list(dict.fromkeys(self.names[key] for key in undecided))
            if len(names) > 1:
                self.apart.append(names)

    def join(self, keys, owners):
        """Give several the same name, since they are called alike and nothing speaks against it."""
        name = self.free_name(keys[0], owners, marked=False)
        for key in keys:
            self.names[key] = name
        if any(key[1] == platform_exports.MOODLE for key in keys):
            self.joined.append((name, [self.identities[key][0] for key in keys]))

    def are_two(self, first, second):
        """Return whether two that are called alike may be two people.

        Moodle numbers a student anew in each assignment, and a loose file may be a copy; so these are one if they never
        handed in the same lesson. Everything else that differs is taken for two people."""
        kinds = {first[1], second[1]}
        if spelled(self.base(first)) != spelled(self.base(second)):
            return True
        if not kinds <= {platform_exports.MOODLE, PLAIN, LOOSE}:
            return True
        if self.lessons[first] & self.lessons[second]:
            return True
        return LOOSE not in kinds and bool(self.downloads[first] & self.downloads[second])

    def free_name(self, key, owners, marked):
        """Return a name that nobody else has, also where capitals do not count in the names of folders.

        Whom names.csv calls by this very name is the same person."""
        base = self.base(key) or blind_name(self.identities[key][0])
        mark = key[2]
        possible = [with_mark(base, "")] if not mark or not marked else []
        possible.append(with_mark(base, mark))
        for name in possible:
            owner = owners.setdefault(name.casefold(), key)
            said_so = owner == name and (not mark or name == with_mark(base, mark))
            if owner == key or said_so:
                return name
        numbered = (with_mark(base, f"{mark}_{number}".strip("_")) for number in count(2))
        return next(name for name in numbered if owners.setdefault(name.casefold(), key) == key)

    def doubts(self):
        """Return name → phrases for the note in the table of marks."""
        found = defaultdict(list)
        for names in self.apart:
            for name in names:
                others = ", ".join(other for other in names if other != name)
                found[name].append(f"another of this name: {others}; if they are one person, names.csv can say so")
        for name, identities in self.joined:
            numbers = ", ".join(identity.mark or "none" for identity in identities)
            found[name].append(f"taken for one person by name, with the numbers {numbers}; if not, see names.csv")
        return dict(found)

    def report(self):
        """Return lines of the report about what is not certain."""
        lines = []
        for names in self.apart:
            lines.append(f"perhaps one person, kept apart: {', '.join(names)}; names.csv decides")
        if self.joined:
            told = "; ".join(
                f"{name} ({', '.join(identity.found for identity in identities)})" for name, identities in self.joined
            )
            lines.append(
                f"taken for one person by name, since Moodle numbers each assignment anew: {told}; "
                "if there are two of this name, name both in names.csv"
            )
        for found in self.unused:
            lines.append(f"names.csv names {found}, but no file, folder or student is called so")
        return lines


def with_mark(name, mark):
    """Return a name with its mark as a folder may be called; a long name does not push its mark out."""
    if not mark:
        return plain(name)
    mark = plain(mark)
    return f"{plain(name)[: 79 - len(mark)]}_{mark}"


def blind_name(identity):
    """Return what stands for the name of a student whose marking is blind."""
    before = identity.found.partition(f"_{identity.mark}")[0]
    return before.removeprefix("LATE_") or "anon"


def is_found(text, identity):
    """Return whether a text is the very name under which something was found, with or without the file's ending."""
    return text in (identity.found, identity.found.rpartition(".")[0])


def is_numbered(text, identity):
    """Return whether a text is a name with its mark, or what was found, as a folder may be called."""
    name = identity.name or blind_name(identity)
    return plain(text) in (with_mark(name, identity.mark), plain(identity.found))
