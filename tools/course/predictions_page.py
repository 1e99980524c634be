"""What a class believed before it measured: the files `predictions.json` as one page with a picture and a table.

An entry is what `helpers.predictions` keeps: the index of the choice (or "show" for a reader who looked at once),
the index of the answer that this student's own run measured, and the measured number.
"""

import html
import re
import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from matplotlib.figure import Figure

from course import collecting
from helpers import figures, language
from helpers.language import number, say
from helpers.predictions import SHOW
from notebook_files import layout, reading

CHOSEN, MEASURED = figures.COLOURS[0], figures.COLOURS[1]
WIDTH, ROW = 11, 0.34  # inches: of the picture, of an answer
PAGE = """<!doctype html>
<html lang="{lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 1.1rem/1.5 sans-serif; max-width: 72rem; margin: 1rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; }}
td, th {{ border-bottom: 1px solid #767676; padding: .3rem .6rem; text-align: left; vertical-align: top; }}
</style>
<h1>{title}</h1>
<p>{count}</p>
{lessons}
</html>
"""


@dataclass
class Question:
    """A question and what became of it. entries: student → entry, for those who saw the answer."""

    name: str
    entries: dict

    @cached_property
    def text(self):
        return say(f"predict.{self.name}")

    @cached_property
    def options(self):
        return options(self.name)

    @cached_property
    def chosen(self):
        """For each answer, the students who chose it."""
        choices = {student: entry["choice"] for student, entry in self.entries.items()}
        return [sorted(s for s, choice in choices.items() if choice == index) for index in range(len(self.options))]

    @cached_property
    def votes(self):
        return sum(map(len, self.chosen))

    @cached_property
    def measured(self):
        """How many runs measured each answer, index → count; the most frequent first."""
        return dict(Counter(entry["answer"] for entry in self.entries.values()).most_common())

    def answers(self):
        """Return the measured answers as text, with their counts if the runs differ."""
        texts = {self.options[index]: count for index, count in self.measured.items()}
        return "; ".join(f"{text} ({count})" if len(texts) > 1 else text for text, count in texts.items())

    def values(self):
        """Return the measured number as text, or the range of those that the runs measured."""
        values = [entry["measured"] for entry in self.entries.values()]
        low, high = number(min(values)), number(max(values))
        return high if low == high else say("class.range", low=low, high=high)


def options(question):
    """Return the texts of a question's answers; none for a question that is not there."""
    keys = language.catalogue(language.current)
    return [keys[key] for n in range(1, 10) if (key := f"predict.{question}_{n}") in keys]


def read(paths):
    """Return student → question → entry, the report of what was left out, and whether every file could be used."""
    with TemporaryDirectory() as room:
        return read_files(paths, collecting.files_of(paths, Path(room)))


def read_files(paths, files):
    """Return the same from (file, student's folder or None); a file that was not named may be something else."""
    students, report, good = {}, [], True
    for file, folder in files:
        if file not in paths and not collecting.is_predictions(file):
            continue
        try:
            found = collecting.predictions(file)
        except (ValueError, OSError) as error:
            report.append(f"{file}: skipped, {error}")
            good = False
            continue
        sound = {question: entry for question, entry in found.items() if is_sound(question, entry)}
        if bad := [str(question) for question in found if question not in sound]:
            report.append(f"{file}: left out, not as the lessons write them: {', '.join(bad)}")
        name = collecting.predictor_of(file, folder)
        students[name] = sound | students.get(name, {})  # the first choice counts
    return students, report, good


def is_sound(question, entry):
    """Return whether an entry is one that the lessons write."""
    if not isinstance(entry, dict) or not all(key in entry for key in ("choice", "answer", "measured")):
        return False
    indices, measured = range(len(options(question))), entry["measured"]
    is_index = lambda value: type(value) is int and value in indices
    return type(measured) in (int, float) and is_index(entry["answer"]) and entry["choice"] in (SHOW, *indices)


def by_lesson(students, root):
    """Return the title of each lesson → its questions in order, for the questions that someone has met."""
    found = {}
    for path in sorted((root / "notebooks" / language.current).glob("*.ipynb")):
        cells = reading.read(path).cells
        title = next(line[2:] for cell in cells for line in cell.source.split("\n") if line.startswith("# "))
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        questions = []
        for name in re.findall(r'\bpredict\("(\w+)"', code):
            if entries := {student: entry[name] for student, entry in students.items() if name in entry}:
                questions.append(Question(name, entries))
        found |= {title: questions} if questions else {}
    return found


def picture(questions):
    """Return the Picture: for each question a bar an answer, its share of the choices; the measured ones stand out."""
    rows = [line for question in questions for line in (*wrapped(question.text, 96), *question.options, "")]
    size, y, alt = (WIDTH, ROW * (len(rows) + 0.5)), 0, []
    with figures.drawing:
        figure = Figure(figsize=size)
        axes = figure.add_axes((0.37, 0, 0.35, 1), xlim=(0, 100), ylim=(len(rows), -0.5))
        axes.axis("off")
        for question in questions:
            for line in wrapped(question.text, 96):
                axes.text(-103, y, line, weight="bold", size=13, va="center")
                y += 1
            for index, (option, who) in enumerate(zip(question.options, question.chosen)):
                share, runs = 100 * len(who) / max(1, question.votes), question.measured.get(index)
                colour, hatch = (MEASURED, "///") if runs else (CHOSEN, "")
                axes.barh(y, share, 0.7, color=colour, hatch=hatch, edgecolor="white")
                axes.barh(y, 100, 0.7, facecolor="none", edgecolor="#767676", linewidth=0.6)
                axes.text(-2, y, "\n".join(wrapped(option, 44)), size=11, va="center", ha="right", linespacing=0.9)
                note = say("class.share", count=len(who), percent=round(share))
                axes.text(102, y, note, size=11, va="center")
                if runs:
                    mark = say("class.measured") if len(question.measured) == 1 else say("class.runs", count=runs)
                    axes.text(128, y, f"◀ {mark}", size=11, weight="bold", color=MEASURED, va="center")
                y += 1
            y += 1
            choices = "; ".join(f"{option}: {len(who)}" for option, who in zip(question.options, question.chosen))
            alt.append(f"{question.text} {choices}. {say('class.alt', answer=question.answers())}")
        return figures.render(figure, " ".join(alt))


def wrapped(text, width):
    """Return a text as lines of at most so many characters."""
    return textwrap.wrap(text, width, break_on_hyphens=False)


def table(questions, names):
    """Return the table of one lesson as HTML; names: whether a column says who chose what."""
    head = say("class.head").split(" | ") + ([say("class.names")] if names else [])
    rows = []
    for question in questions:
        right = sum(entry["choice"] == entry["answer"] for entry in question.entries.values())
        most = max(map(len, question.chosen))
        believed = "; ".join(o for o, who in zip(question.options, question.chosen) if most and len(who) == most)
        shown = len(question.entries) - question.votes
        row = [question.text, question.votes, shown, right, believed, question.answers(), question.values()]
        told = (f"{option}: {', '.join(who)}" for option, who in zip(question.options, question.chosen) if who)
        rows.append(row + (["; ".join(told)] if names else []))
    line = lambda cells, tag: "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
    return "\n".join(["<table>", line(head, "th"), *(line(row, "td") for row in rows), "</table>"])


def write(paths, target, lang="en", names=False, root=layout.ROOT):
    """Write the page of files and folders; return the lines of the report and whether every file could be used.

    Raises ValueError if there is nothing to show."""
    language.use(lang)
    students, report, good = read(paths)
    found = by_lesson(students, root)
    if not found:
        raise ValueError("\n".join([*report, "there is no prediction in these files"]))
    parts = [
        f"<h2>{html.escape(title)}</h2>\n{picture(questions).img()}\n{table(questions, names)}"
        for title, questions in found.items()
    ]
    count = say("class.count", students=len(students))
    page = PAGE.format(lang=lang, title=say("class.title"), count=count, lessons="\n".join(parts))
    target.write_text(page, encoding="utf8")
    questions = sum(map(len, found.values()))
    return [*report, f"{target}: {len(students)} students, {questions} questions"], good
