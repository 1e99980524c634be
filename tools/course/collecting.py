"""What students hand in becomes the submissions of a course; nothing that is there is replaced by it."""

import hashlib
import json
from dataclasses import dataclass, field

from tqdm import tqdm

from course import (
    answer_cells,
    course_configuration,
    course_folder,
    handed_in_files,
    handed_in_predictions,
    names_csv,
    platform_exports,
    records,
    renaming,
    student_names,
)
from course.student_names import ATTEMPT, PREDICTIONS

__all__ = ["ATTEMPT", "collect"]


def collect(directory, paths):
    """Make submissions of what students handed in; return the lines of the report and whether all could be used."""
    courses = [path for path in paths if (path / course_configuration.NAME).is_file()]
    if courses and not (directory / course_configuration.NAME).is_file():
        raise ValueError(
            f"{directory} holds no course, but {courses[0]} does: the course comes first, "
            f"as in classroom.py collect {courses[0]} {directory}"
        )
    renewed = course_configuration.renew(directory)
    course_configuration.load(directory)
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise ValueError(f"there is no {', '.join(missing)}")
    report, good = Collection(directory).add(paths)
    return renewed + report, good


@dataclass
class Found:
    """A file that was looked at. assignment: what it is for, "predictions" for those. content: the notebook to be
    graded, or the predictions. identity: whose it is, or None. reason: why it is skipped, or ""."""

    handed: handed_in_files.HandedIn
    identity: student_names.Identity | None = None
    assignment: str = ""
    content: dict | None = None
    repairs: list = field(default_factory=list)
    reason: str = ""

    def sighting(self):
        if self.assignment == PREDICTIONS:
            return handed_in_predictions.sighting_of(self.handed, self.identity)
        lesson = course_folder.lesson_of(self.assignment) if self.assignment else None
        return student_names.Sighting(self.identity, lesson, self.handed.download)


def look_at(handed, released):
    """Return the Found of a file: whose it is and what it holds, or why it cannot be used."""
    found = Found(handed)
    is_predictions = handed_in_predictions.is_predictions(handed.path)
    try:
        if is_predictions:
            found.identity = handed_in_predictions.identity_of(handed)
        else:
            found.identity = student_names.identity_of(handed, course_folder.lesson_names(released))
        if handed.problem:
            raise ValueError(handed.problem)
        refuse_typed_text(handed)
        if is_predictions:
            found.content = handed_in_predictions.read(handed.path)
            found.assignment = PREDICTIONS
        else:
            cells = answer_cells.read(handed.path)
            found.assignment = answer_cells.assignment_of(cells, released)
            found.content, found.repairs = answer_cells.take_over(cells, released[found.assignment])
    except ValueError as error:
        found.reason = str(error)
    except OSError as error:
        found.reason = f"cannot be read: {error.strerror or error}"
    except Exception as error:  # whatever is in a file, it must not keep the others back
        found.reason = f"cannot be read, {type(error).__name__} {error}: look at it yourself"
    return found


def refuse_typed_text(handed):
    """Raise ValueError for what Moodle makes of text that a student typed into its field."""
    for name in (handed.folder, handed.name):
        exported = platform_exports.read_name(name) if name else None
        if exported is not None and exported.typed:
            raise ValueError("text that the student typed into Moodle's field, no notebook: read it there")


class Collection:
    """What is collected in a course: whose each attempt is, and which files were skipped."""

    def __init__(self, directory):
        self.directory = directory
        self.report = []
        self.collected = self.record(course_folder.COLLECTED)
        self.skipped = self.record(course_folder.SKIPPED)
        self.released = course_folder.released_notebooks(directory)
        self.attempts = renaming.Attempts(directory)
        self.entries = self.entries_of_attempts()

    def record(self, name):
        """Return what a record holds; if it is damaged, the report says so."""
        found, sentence = records.read(self.directory / name)
        if sentence:
            self.report.append(f"{self.directory / name}: {sentence}; look at the names in the report")
        return found

    def entries_of_attempts(self):
        """Return (assignment, attempt) → entry of the record, for all attempts that are there.

        An entry holds the file, the download and the fields of the Identity. Older records hold the file only, and a
        lost record nothing: then the name is told from the file's path or from the attempt, and the entry says so."""
        entries = {}
        there = self.attempts.all()
        for assignment, attempts in self.collected.items():
            for attempt, entry in attempts.items() if isinstance(attempts, dict) else ():
                if (assignment, attempt) in there:
                    entries[assignment, attempt] = self.completed(attempt, entry)
        for assignment, attempt in there:
            entries.setdefault((assignment, attempt), self.completed(attempt, {}))
        return entries

    def completed(self, attempt, entry):
        """Return an entry of the record in today's form."""
        entry = dict(entry) if isinstance(entry, dict) else {"file": str(entry)}
        if student_names.from_record(entry) is None:
            student = attempt.partition(ATTEMPT)[0]
            lessons = course_folder.lesson_names(self.released)
            identity = student_names.from_path(entry.get("file", ""), student, lessons)
            entry |= identity.record() | {"guessed": True}
        return entry

    def add(self, paths):
        """Take what lies in files and folders; return the lines of the report and whether all could be used."""
        files = handed_in_files.files_of(paths, self.directory / "unpacked")
        found = [look_at(handed, self.released) for handed in tqdm(files, unit="file", leave=False)]
        self.recognise([one for one in found if not one.reason])
        self.forget_skipped(found)
        known = [*self.sightings(), *(one.sighting() for one in found if one.identity is not None)]
        people = student_names.People(known, names_csv.read(self.directory))
        try:
            self.move_to_right_names(people)
            for one in found:
                self.report.append(written(f"{one.handed.path}: {self.take(one, people)}"))
        finally:
            self.write_records(people)
        self.report += [written(line) for line in people.report()]
        return self.report, not any(one.reason and not self.is_replaced(one) for one in found)

    def sightings(self):
        """Return the Sighting of each student whom the records know."""
        found = []
        for (assignment, _), entry in self.entries.items():
            identity = student_names.from_record(entry)
            lesson = None if assignment == PREDICTIONS else course_folder.lesson_of(assignment)
            found.append(student_names.Sighting(identity, lesson, entry.get("download"), entry.get("person", "")))
        for entry in self.skipped.values():
            identity = student_names.from_record(entry)
            if identity is not None:
                found.append(student_names.Sighting(identity, None, entry.get("download"), entry.get("person", "")))
        return found

    def recognise(self, found):
        """Say whose an attempt is whose entry was a guess, by its file or by its answers."""
        for is_it in (self.is_from_file, self.has_answers):
            for one in found:
                for (assignment, attempt), entry in self.entries.items():
                    if entry.get("guessed") and assignment == one.assignment and is_it(one, attempt, entry):
                        entry.update(self.entry_of(one))
                        del entry["guessed"]
                        break

    def is_from_file(self, one, attempt, entry):
        return entry.get("file") == file_of(one)

    def has_answers(self, one, attempt, entry):
        is_called_so = attempt.partition(ATTEMPT)[0] in student_names.possible_names(one.identity)
        return is_called_so and self.is_same(one, attempt)

    def entry_of(self, one):
        """Return the entry of the record for a file."""
        return {"file": file_of(one), "download": one.handed.download, **one.identity.record()}

    def move_to_right_names(self, people):
        """Move attempts whose student has another name now, with all that was graded; the report says so."""
        moves = []
        for (assignment, attempt), entry in self.entries.items():
            student = people.name(student_names.from_record(entry))
            if attempt.partition(ATTEMPT)[0] != student:
                moves.append(self.attempts.move(assignment, attempt, student))
        renaming.move(self.directory, moves)
        for moved in moves:
            self.entries[moved.assignment, moved.new] = self.entries.pop((moved.assignment, moved.old))
            self.report.append(f"{moved.old} is {moved.new} now, {moved.assignment}, with points and comments")

    def take(self, one, people):
        """Put a file into the course; return what the report says of it."""
        if not one.reason:
            student = people.name(one.identity)
            try:
                attempt = self.keep(one, student)
            except OSError as error:
                one.reason = f"cannot be written: {error.strerror or error}"
            else:
                return f"{attempt}, {one.assignment}" + (": " if one.repairs else "") + "; ".join(one.repairs)
        if self.is_replaced(one):
            return f"skipped, {one.reason}; since replaced by a file that could be used"
        self.note_skipped(one)
        return f"skipped, {one.reason}"

    def keep(self, one, student):
        """Write a submission or predictions; return the attempt: that with the same answers, else a new one."""
        attempt = self.attempt_with(one, student) or self.attempts.free(one.assignment, student)
        if one.assignment == PREDICTIONS:
            target = self.directory / PREDICTIONS / attempt / "predictions.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            records.replace(target, one.content)
        else:
            seconds = one.handed.path.stat().st_mtime
            course_folder.submit(self.directory, attempt, one.assignment, one.content, seconds, one.repairs)
        self.entries.setdefault((one.assignment, attempt), {}).update(self.entry_of(one))
        return attempt

    def attempt_with(self, one, student):
        """Return a student's attempt that has the same answers already, or None."""
        for assignment, attempt in self.entries:
            if assignment == one.assignment and attempt.partition(ATTEMPT)[0] == student and self.is_same(one, attempt):
                return attempt
        return None

    def is_same(self, one, attempt):
        """Return whether an attempt holds what a file holds; predictions may have become more."""
        if one.assignment == PREDICTIONS:
            before = read_json(self.directory / PREDICTIONS / attempt / "predictions.json")
            return before is not None and handed_in_predictions.is_continued(before, one.content)
        before = course_folder.submitted(self.directory, attempt, one.assignment)
        if before is None:
            return False
        try:
            return answer_cells.answers_in(before) == answer_cells.answers_in(one.content)
        except (AttributeError, TypeError):  # somebody has changed the file in the course
            return False

    # files that were skipped

    def forget_skipped(self, found):
        """Drop what the record says of files that are looked at again, and of a student's folder that is.

        If the folder holds a file that can be used in place of one that was skipped, the record keeps that as replaced:
        a teacher may collect the older zip file once more."""
        present = {}
        for one in found:
            present.setdefault(key_of(one), set()).add(contents_of(one))
        platform = [one for one in found if is_from_platform(one) and one.handed.folder is not None]
        folders = {one.handed.folder for one in platform}
        better = {one.handed.folder for one in platform if not one.reason and one.assignment != PREDICTIONS}
        for key, entry in list(self.skipped.items()):
            is_there_again = entry.get("contents") in present.get(key, ())
            if entry.get("replaced"):
                continue
            if entry.get("folder") in better and entry.get("contents") and not is_there_again:
                entry["replaced"] = True
            elif key in present or entry.get("folder") in folders:
                del self.skipped[key]

    def is_replaced(self, one):
        """Return whether a file is one that was skipped before and that its student has replaced since."""
        entry = self.skipped.get(key_of(one), {})
        has_work = any(
            assignment != PREDICTIONS and student_names.from_record(other) == one.identity
            for (assignment, _), other in self.entries.items()
        )
        return bool(entry.get("replaced")) and entry.get("contents") == contents_of(one) and has_work

    def note_skipped(self, one):
        """Write down that a file was skipped, and why."""
        entry = {"file": one.handed.inside, "folder": one.handed.folder, "reason": one.reason}
        entry["contents"] = contents_of(one)
        if one.identity is not None:
            entry |= {"download": one.handed.download, **one.identity.record()}
        self.skipped[key_of(one)] = entry

    # records

    def write_records(self, people):
        """Write whose everything is, which files were skipped, and which names are not certain."""
        collected = {}
        for (assignment, attempt), entry in self.entries.items():
            collected.setdefault(assignment, {})[attempt] = entry
        records.replace(self.directory / course_folder.COLLECTED, collected)
        for entry in self.skipped.values():
            identity = student_names.from_record(entry)
            stem = student_names.plain(entry["file"].rpartition("/")[2])
            entry["student"] = people.name(identity) if identity is not None else stem
        records.replace(self.directory / course_folder.SKIPPED, self.skipped)
        doubts = people.doubts()
        told = {}
        for student, assignment in course_folder.submissions(self.directory):
            phrases = doubts.pop(student.partition(ATTEMPT)[0], None)  # once for each student
            if phrases:
                told[f"{student}/{assignment}"] = phrases
        records.replace(self.directory / course_folder.DOUBTS, told)


def key_of(one):
    """Return what tells a file that was skipped from all others, also in a newer zip file of the same assignment."""
    place = one.handed.folder if is_from_platform(one) else one.handed.download
    return f"{place}|{one.handed.inside}"


def contents_of(one):
    """Return a digest of what a file holds, or None if it cannot be read."""
    try:
        return hashlib.sha256(one.handed.path.read_bytes()).hexdigest()[:16]
    except OSError:
        return None


def is_from_platform(one):
    return one.identity is not None and one.identity.kind in (platform_exports.MOODLE, platform_exports.CANVAS)


def file_of(one):
    """Return the place of a file, as records keep it."""
    return str(one.handed.path.resolve())


def read_json(path):
    """Return what a file holds, or None if it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return None


def written(text):
    """Return a text that can be printed and written; bytes of a name that are no Unicode are shown as codes."""
    return text.encode("utf8", "backslashreplace").decode("utf8")
