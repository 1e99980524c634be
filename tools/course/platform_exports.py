"""How Moodle and Canvas name what they pack into a zip file of all submissions.

Moodle makes a folder for each student, or puts the same in front of each file's name; the number is the
participant's number within this one assignment, so that a student has another number in the next one:

    Anna Svensson_123456_assignsubmission_file_
    Anna Svensson_123456_assignsubmission_file_01_layernorm.ipynb
    Participant_123459_assignsubmission_file_           (blind marking, in the words of the teacher's language)
    Group A-Anna Svensson_123456_assignsubmission_file_ (where the assignment has groups)

Canvas puts the student's name, their number, which is the same in all assignments, and the file's number in front
of the file's name; with anonymous marking a code takes the place of name and number:

    svenssonanna_123456_7890123_01_layernorm.ipynb
    svenssonanna_LATE_123456_7890123_01_layernorm-1.ipynb   (late, and handed in for the second time)
    anon_aB3x9_7890123_01_layernorm.ipynb, LATE_anon_aB3x9_7890123_01_layernorm.ipynb
"""

import re
from dataclasses import dataclass

MOODLE, CANVAS = "moodle", "canvas"
MOODLE_NAME = re.compile(
    r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?P<plugin>[a-z]+)(_(?P<file>.*))?", re.I | re.S
)
CANVAS_NAME = re.compile(r"(?P<name>.+?)(_LATE)?_(?P<number>\d{3,})_\d{3,}(_(?P<file>.*)|-\d+)?", re.I | re.S)
CANVAS_ANONYMOUS = re.compile(
    r"(LATE_)?anon(_LATE)?_(?P<number>[a-z\d]+)(_LATE)?_\d+(_(?P<file>.*)|-\d+)?", re.I | re.S
)
PARTICIPANT = {  # Moodle's word for a student without a name, letters only
    "participant", "teilnehmer", "teilnehmerin", "teilnehmerinnen", "deltagare", "deltager", "deltaker", "deelnemer",
    "participante", "partecipante", "osallistuja", "osaleja", "uczestnik", "účastník", "résztvevő", "udeleženec",
    "sudionik", "dalībnieks", "dalyvis", "katılımcı", "συμμετέχων", "участник", "учасник", "参加者", "參與者", "参与者",
}  # fmt: skip


@dataclass(frozen=True)
class Exported:
    """What a platform's name of a folder or file says.

    platform: MOODLE or CANVAS. name: the student's, "" if the marking is blind. number: who it is, in the platform's
    own count. file: the student's name of the file, "" for a folder. typed: whether it is text typed into a field."""

    platform: str
    name: str
    number: str
    file: str
    typed: bool = False


def read_name(text):
    """Return what a platform's name says, or None for a name that no platform gave."""
    if match := MOODLE_NAME.fullmatch(text):
        name = "" if is_blind(match["name"]) else match["name"]
        return Exported(MOODLE, name, match["number"], match["file"] or "", match["plugin"].lower() == "onlinetext")
    if match := CANVAS_ANONYMOUS.fullmatch(text):
        return Exported(CANVAS, "", match["number"], match["file"] or "")
    if match := CANVAS_NAME.fullmatch(text):
        return Exported(CANVAS, match["name"], match["number"], match["file"] or "")
    return None


def is_blind(name):
    """Return whether Moodle's name of a student is its word for a participant, also behind a group's name."""
    word = name.rpartition("-")[2]
    return "".join(letter for letter in word if letter.isalpha()).casefold() in PARTICIPANT
