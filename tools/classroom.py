"""The teacher's tool: the lessons' assignments as an nbgrader course, from handing out to the marks.

    python tools/classroom.py create DIR [--lang de] [--lang sv]
    python tools/classroom.py collect DIR FILES...
    python tools/classroom.py grade DIR [--again]
    python tools/classroom.py predictions FILES... [--lang de] [--names] [--out FILE]
    python tools/classroom.py release

create makes an nbgrader course from notebooks/<lang>/solutions, ready to run, with one nbgrader assignment for
each lesson and language (all three without --lang). What students get is then in DIR/release.

collect takes what students hand in: files, folders and zip files, also the one that Moodle or Canvas makes of all
of them. It starts from the released notebook and takes over what the student wrote, so that whatever happened to the
other cells does no harm; lesson and language are told from the cells, not from names. Halves of a split answer are
joined; of copies the last one counts. Text in a cell at a written answer, imports, and definitions that an answer needs
or that its check calls are taken along from the student's own cells; the report and the table name what is not.

In a folder or zip file that you name each folder is a student; any other file names its student:
ada_01_layernorm.ipynb, or 01_layernorm.ipynb in a folder ada or in ada.zip. Other answers from the same student are a
further attempt, ada~2, also in a file of the same name; nothing is replaced, and the same answers once more are no
attempt. The file predictions.json, which lies beside a student's notebooks, goes into DIR/predictions. A file that
cannot be used is skipped, with a sentence that says what it is; its student has a row in the table.

Two people are never taken for one. Where two have the same name, the number of Moodle or Canvas or of a copy stays in
theirs: Anna_Svensson_123456 and Anna_Svensson_123457, Müller_Åsa and Müller_Åsa_2. Moodle numbers each assignment anew;
a name that comes with another number in another lesson, and never twice in one, is taken for one person. The report and
the table say where that is not certain, and you decide in DIR/names.csv. Each line is

    as found,right name

with a comma, a semicolon or a tab between. As found is the folder's or file's name exactly as it came, such as
Anna Svensson_123457_assignsubmission_file_, or the name that the table shows. Lines with the same right name join what
belongs to one person, lines with different ones separate. Then run collect again, with the same files or others:
submissions, predictions, points, comments and feedback move to the right name.

grade runs the checks of what is new or changed (of everything with --again), two submissions at a time, writes
the feedback into DIR/feedback and the marks into DIR/marks.csv: one row a student, for each lesson the best of all
attempts, in whatever language, and a note of what waits, what collect repaired or skipped and what deserves a look.
A course whose first language is German or Swedish gets semicolons and decimal commas, as Excel writes them there; a
line in DIR/nbgrader_config.py changes that. Written answers wait for you in nbgrader's formgrader; grade once more
afterwards for the new table and the feedback with your points. Your points and comments stay, whatever you grade
again. If a student rewrites an answer, what you gave for the old one is set aside in DIR/set_aside.json, and the
note says so. A course that an older version of this tool has made gets a new nbgrader_config.py, and keeps the old
one beside it.

predictions makes one page, predictions.html, of the students' predictions, in files or folders as for collect:
for each question what the class believed and what was measured. A course stands for the predictions that were
collected into it. The page lies in the folder in which you are, unless
--out names another place, and names no student without --names.

release writes notebooks/<lang>/assignments, what students get, from notebooks/<lang>/solutions. For authors.

Ctrl-C stops every command; nothing is lost, and the same command goes on where it was.

Exit code 1 if a file was skipped or a submission could not be graded, 130 after Ctrl-C.
"""

import argparse
import json
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  (somebody may start it with an older one)
    sys.exit(f"this needs Python 3.11 or newer, and {sys.executable} is older; activate the environment of the project")

from notebook_files import directions
from notebook_files.layout import LANGUAGES, ROOT

try:
    from course import collecting, course_folder, grade_submissions, one_submission
except ModuleNotFoundError as error:
    sys.exit(
        f"{sys.executable} has no package {error.name}; activate the environment of the project "
        "and run there, in the project's folder: pip install -r tests/requirements.txt"
    )
except KeyboardInterrupt:  # importing them takes a while
    sys.exit(directions.STOPPED)

GRADE_ONE = "grade-one"


def arguments():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("release", help="write what students get, for authors")
    maker = commands.add_parser("create", help="make an nbgrader course")
    collector = commands.add_parser("collect", help="take what students hand in")
    grader = commands.add_parser("grade", help="grade it and write the marks")
    shower = commands.add_parser("predictions", help="show what the class believed and what was measured")
    for command in (maker, collector, grader):
        command.add_argument("directory", metavar="DIR", type=Path, help="the course's folder")
    maker.add_argument("--lang", action="append", choices=LANGUAGES, help="a language; all three without")
    for command in (collector, shower):
        command.add_argument("files", metavar="FILES", nargs="+", type=Path, help="files, or folders of them")
    shower.add_argument("--lang", action="append", choices=LANGUAGES, help="the page's language; English without")
    shower.add_argument("--names", action="store_true", help="also say who chose what")
    shower.add_argument("--out", metavar="FILE", type=Path, default=Path("predictions.html"), help="the page to write")
    grader.add_argument("--again", action="store_true", help="also what has been graded already")
    return parser


def arguments_of_one():
    """Return the parser of grade-one, which grade calls for each submission; it is no command of a teacher's."""
    parser = argparse.ArgumentParser(prog=f"classroom.py {GRADE_ONE}")
    parser.add_argument("directory", type=Path)
    parser.add_argument("student")
    parser.add_argument("assignment")
    parser.set_defaults(command=GRADE_ONE)
    return parser


def understood(words):
    """Return the arguments that the words of a command line mean."""
    if words[:1] == [GRADE_ONE]:
        return arguments_of_one().parse_args(words[1:])
    return arguments().parse_args(words)


def perform(args, root):
    """Carry out a command; return the lines of its report and whether all went well."""
    if args.command == "release":
        return course_folder.release(root), True
    if args.command == "create":
        return course_folder.create(args.directory, list(dict.fromkeys(args.lang or LANGUAGES)), root), True
    if args.command == "collect":
        return collecting.collect(args.directory, args.files)
    if args.command == "predictions":
        from course import predictions_page  # matplotlib takes a second

        lang, *more = args.lang or ["en"]
        if more:
            raise ValueError("a page has one language; run this again for the other, with another --out")
        return predictions_page.write(args.files, args.out, lang, args.names)
    if args.command == GRADE_ONE:
        return [json.dumps(one_submission.grade(args.directory, args.student, args.assignment))], True
    return grade_submissions.grade(args.directory, args.again)


def main(words=None, root=ROOT):
    """Carry out the command of the command line, or of a list of words, and end with its exit code."""
    directions.end(perform, understood(sys.argv[1:] if words is None else words), root)


if __name__ == "__main__":
    main()
