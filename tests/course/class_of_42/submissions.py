"""The 42 files that the class hands in, each with the points that it deserves.

In assignment 1 the checks give 3 + 5 + 3 + 5 = 16 points, in assignment 2 3 + 4 + 4 + 3 + 2 = 16, in assignment 3
2 + 2 + 2 + 3 + 3 + 2 + 2 = 16, and in assignment 4 4 + 3 + 4 + 4 = 15. The written answers wait for the teacher.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.course.class_of_42 import answers, happenings

WAITS = "a written answer waits"
A1, A2, A3, A4 = "01_layernorm", "02_rmsnorm", "03_placement", "04_residual_stream"


@dataclass(frozen=True)
class Submission:
    """A file that somebody hands in.

    who: the name in the table of marks. place: the download, a zip file or a folder, and the path in it. points: what
    the lesson's column must hold because of this file, None if it is skipped. why: the reason for the points. lesson,
    language: the assignment. changed: grade_id → other answers than the right ones. happened: what happened to the
    notebook. form: how it becomes the bytes of a file. notes: phrases of the note in the table. told: what the checks
    must say in the feedback, as (task, name of the mistake) or (task, key of the catalogue). shown: what the feedback
    must show of the student's own."""

    who: str
    place: str
    points: float | None
    why: str
    lesson: str = A1
    language: str = "de"
    changed: dict = field(default_factory=dict)
    happened: Callable | None = None
    form: Callable = happenings.as_json
    notes: tuple = (WAITS,)
    told: tuple = ()
    shown: tuple = ()


def moodle(name, number, file=f"{A1}.ipynb"):
    return f"Aufgabe 1-4711.zip/{name}_{number}_assignsubmission_file_/{file}"


def blind(number):
    return f"Aufgabe 2-4712.zip/Teilnehmer_in_{number}_assignsubmission_file_/{A2}.ipynb"


MOODLE = [  # assignment 1, with names
    Submission(
        "Amelie_Thoma",
        moodle("Amelie Thoma", 510001),
        16,
        "all right, with torch's operations, saved in VS Code",
        happened=happenings.saved_in_vs_code,
    ),
    Submission(
        "Bruno_Keller",
        moodle("Bruno Keller", 510002),
        16,
        "all right, with numpy",
        changed={"layer-norm": answers.NUMPY_LAYER_NORM, "leak": answers.NUMPY_LEAK},
    ),
    Submission(
        "Carla_Weiß",
        moodle("Carla Weiß", 510003, "Abgabe.zip"),
        16,
        "all right, with lists only, in English, in a zip file of her own",
        language="en",
        changed={"layer-norm": answers.LIST_LAYER_NORM, "leak": answers.LIST_LEAK},
        form=happenings.in_a_zip,
    ),
    Submission(
        "Denis_Öztürk",
        moodle("Denis Öztürk", 510004),
        16,
        "all right, in float64, saved by a program of Windows: nothing of the given cells has changed",
        changed={"layer-norm": answers.FLOAT64_LAYER_NORM, "leak": answers.FLOAT64_LEAK},
        form=happenings.with_windows_lines,
    ),
    Submission(
        "Lena_Berg_510005",
        moodle("Lena Berg", 510005),
        16,
        "all right; two students of this name, so the numbers stay in theirs",
        notes=(WAITS, "Lena_Berg_510006", "names.csv"),
    ),
    Submission(
        "Lena_Berg_510006",
        moodle("Lena Berg", 510006),
        16,
        "the other one, with the very same answers: still another row",
        notes=(WAITS, "Lena_Berg_510005", "names.csv"),
    ),
    Submission(
        "Emil_Sand",
        moodle("Emil Sand", 510007),
        11,
        "an endless loop costs the 5 points of its task only; nothing is written, so nothing waits",
        changed={"leak": answers.ENDLESS_LEAK, "review": "Deine Antwort"},
        notes=(),
        told=(("leak", "check.too_long"),),
    ),
    Submission(
        "Finja_Lorenz",
        moodle("Finja Lorenz", 510008),
        11,
        "sys.exit in a function costs the 5 points of its task only",
        changed={"layer-norm": answers.LEAVING_LAYER_NORM},
        told=(("layer-norm", "check.raises"),),
    ),
    Submission(
        "Georg_Haas",
        moodle("Georg Haas", 510009),
        11,
        "os._exit ends the kernel; the 5 points of its task are lost, the others are not",
        changed={"layer-norm": answers.KILLING_LAYER_NORM},
    ),
    Submission(
        "Hanna_Pohl",
        moodle("Hanna Pohl", 510010),
        11,
        "variance over d − 1: 0 of 5, although the check was deleted",
        changed={"layer-norm": answers.UNBIASED_LAYER_NORM},
        happened=happenings.check_deleted,
        notes=(WAITS, "layer-norm-check was missing"),
        told=(("layer-norm", "unbiased"),),
    ),
    Submission(
        "Ilka_Brandt",
        moodle("Ilka Brandt", 510011),
        13,
        "shapes without keepdim: 0 of 3, although the check was edited to give 100",
        changed={"which-axis": answers.NO_KEEPDIM},
        happened=happenings.check_edited,
        notes=(WAITS, "which-axis-check was changed"),
        told=(("which-axis", "no-keepdim"),),
    ),
    Submission(
        "Jonas_Reuter",
        moodle("Jonas Reuter", 510012),
        13,
        "of two copies of an answer the last one counts, and its signs are wrong: 0 of 3",
        happened=happenings.check_and_answer_doubled,
        notes=(WAITS, "by-hand was there 2 times", "by-hand-check was there 2 times"),
        told=(("by-hand", "sign"),),
    ),
    Submission(
        "Kira_Vogt",
        moodle("Kira Vogt", 510013),
        16,
        "all right; the ids are others, and the cells stand in reverse",
        happened=happenings.ids_changed_and_order_reversed,
        notes=(WAITS, "another order"),
    ),
    Submission(
        "Mira_Nowak",
        moodle("Mira Nowak", 510015, "Hausaufgabe FINAL (3).ipynb"),
        16,
        "all right; the file has another name, 60 MB of output, and prints more while it is graded",
        changed={"layer-norm": answers.TALKING_LAYER_NORM},
        happened=happenings.large_output,
    ),
    Submission(
        "Olga_Petrov",
        moodle("Olga Petrov", 510017),
        16,
        "all right; Colab dropped the ids",
        happened=happenings.saved_in_colab,
    ),
    Submission(
        "Tina_Haller",
        moodle("Tina Haller", 510021, f"{A1}.pdf"),
        None,
        "a PDF cannot be graded",
        form=happenings.as_pdf,
        notes=("PDF", ".ipynb"),
    ),
    Submission(
        "Ugo_Marin",
        moodle("Ugo Marin", 510022, f"{A1}.py"),
        None,
        "a program cannot be graded",
        form=happenings.as_program,
        notes=("Python program", ".ipynb"),
    ),
    Submission(
        "Vera_Zoll",
        moodle("Vera Zoll", 510023),
        None,
        "an empty file cannot be graded",
        form=happenings.as_nothing,
        notes=("empty",),
    ),
    Submission(
        "Willi_Kramm",
        moodle("Willi Kramm", 510024),
        None,
        "half of a notebook cannot be graded",
        form=happenings.cut_off,
        notes=("damaged",),
    ),
]

BLIND = [  # assignment 2, blind marking
    Submission(
        "Teilnehmer_in_610001",
        blind(610001),
        16,
        "all right, with einsum",
        lesson=A2,
    ),
    Submission(
        "Teilnehmer_in_610002",
        blind(610002),
        9,
        "d − 1: 0 of 3; the second function calls the first one rightly: 0 of 4, and the check says whose fault it is",
        lesson=A2,
        changed={"rms-norm": answers.DIVIDED_BY_ONE_LESS},
        told=(("rms-norm", "divided by d − 1"), ("rms-norm-half", "check.consequence")),
    ),
    Submission(
        "Teilnehmer_in_610003",
        blind(610003),
        0,
        "an object that equals everything is no answer",
        lesson=A2,
        changed=answers.ANYTHING,
        notes=(WAITS, "mock"),
        told=(("rms-norm", "check.foreign"),),
    ),
    Submission(
        "Teilnehmer_in_610004",
        blind(610004),
        16,
        "the lesson's own function is no norm of torch; import helpers.norms is taken along",
        lesson=A2,
        changed={"rms-norm": answers.FROM_HELPERS},
        happened=happenings.norms_among_the_imports,
        notes=(WAITS, "import helpers.norms"),
    ),
]

CANVAS = [  # assignment 3
    Submission(
        "lindholmsv",
        f"submissions.zip/lindholmsv_700001_8000001_{A3}.ipynb",
        12,
        "names with capitals: 0 of 2; numbers as text: 0 of 2",
        lesson=A3,
        language="en",
        changed={"which-curve": answers.CURVES_WITH_CAPITALS, "planted-bugs": answers.BUGS_AS_TEXT},
        told=(("which-curve", "check.name"), ("planted-bugs", "check.text")),
    ),
    Submission(
        "parkjo_700002",
        f"submissions.zip/parkjo_700002_8000002_{A3}.ipynb",
        16,
        "all right; two students of this name",
        lesson=A3,
        language="en",
        notes=(WAITS, "parkjo_700003"),
    ),
    Submission(
        "parkjo_700003",
        f"submissions.zip/parkjo_LATE_700003_8000003_{A3}-1.ipynb",
        9,
        "post-norm for pre-norm: 0 of 2; no brackets in α: 0 of 3; post-norm and DeepNorm exchanged: 0 of 2",
        lesson=A3,
        language="en",
        changed={
            "pre-norm-block": answers.PRE_NORM_AFTER,
            "deepnorm-sublayer": answers.DEEPNORM_WITHOUT_BRACKETS,
            "which-curve": answers.CURVES_EXCHANGED,
        },
        notes=(WAITS, "parkjo_700002"),
        told=(
            ("pre-norm-block", "post-norm"),
            ("deepnorm-sublayer", "the power binds more tightly than the factor 2"),
            ("which-curve", "post-norm and DeepNorm exchanged"),
        ),
    ),
]

MAIL = [  # a folder in which the teacher puts what comes by mail
    Submission(
        "Piet_de_Boer",
        f"Mail/Piet de Boer/{A1}.ipynb",
        16,
        "all right; the import that he added to the given ones is taken along; “de” is part of his name",
        language="en",
        changed={"layer-norm": answers.NUMPY_WITHOUT_IMPORT},
        happened=happenings.numpy_among_the_imports,
        notes=(WAITS, "import numpy as np"),
    ),
    Submission(
        "Piet_Boer",
        f"Mail/Piet Boer/{A1}.ipynb",
        11,
        "the root of a root: 0 of 5; another person than Piet de Boer",
        language="en",
        changed={"layer-norm": answers.TWO_ROOTS},
        told=(("layer-norm", "root-of-the-root"),),
    ),
    Submission(
        "Öberg_Tim",
        f"Mail/Öberg Tim/{A1}.ipynb",
        11,
        "ε squared: 0 of 5",
        changed={"layer-norm": answers.EPS_SQUARED},
        notes=(WAITS, "Öberg_Tim_2", "names.csv"),
        told=(("layer-norm", "eps-squared"),),
    ),
    Submission(
        "Öberg_Tim_2",
        f"Mail/Öberg Tim (2)/{A1}.ipynb",
        6,
        "γ and β exchanged: 0 of 5; renamed arguments, of which a check that calls by name knows nothing: 0 of 5",
        changed={"layer-norm": answers.EXCHANGED, "leak": answers.RENAMED_LEAK},
        notes=(WAITS, "names.csv"),
        told=(("layer-norm", "gain-and-bias-exchanged"), ("leak", "check.arguments")),
    ),
    Submission(
        "stahl_uma_en",
        f"Mail/stahl_uma_en_{A1}.ipynb",
        16,
        "all right; a loose file, and “en” is part of the name",
        language="en",
    ),
    Submission(
        "viktor_sv",
        f"Mail/viktor_sv_{A1}.ipynb",
        16,
        "the same answers, letter by letter: the points are the teacher's decision",
        language="en",
    ),
    Submission(
        "Wanda_Ihle",
        f"Mail/Wanda Ihle/{A1}.ipynb",
        16,
        "all right; a function in two cells is joined, and text below the answer belongs to it",
        happened=happenings.split_code_and_text_below,
        notes=(WAITS, "layer-norm was in 2 cells", "review has what stood in a cell of the student's own"),
        shown=(answers.REVIEW["de"],),
    ),
    Submission(
        "Xaver_Rink",
        f"Mail/Xaver Rink/{A4}.ipynb",
        11,
        "factors rounded to two decimals: 0 of 4; !pip and %timeit do no harm",
        lesson=A4,
        changed={"growth-factor": answers.GROWTH_ROUNDED},
        told=(("growth-factor", "check.rounded"),),
    ),
    Submission(
        "Ada_Kranz",
        f"Mail/=Ada Kranz/{A1}.ipynb",
        0,
        "nothing is right, and a script in the written answer gives no points",
        changed=answers.NOTHING_RIGHT | {"review": answers.STEALING_REVIEW},
        shown=("<script>", "it leaks."),
    ),
    Submission(
        "Bo_Tausch",
        f"Mail/+Bo Tausch/{A1}.ipynb",
        16,
        "deserves 3; that code can fake its marks stands on the teachers' page, and the note must say: look at it",
        changed=answers.NOTHING_RIGHT | {"by-hand": answers.BY_HAND, "layer-norm": answers.REPLACED_JUDGE},
        notes=(WAITS, "sys.modules", "look at it"),
    ),
    Submission(
        "Cy_Ulm",
        f"Mail/-Cy Ulm/{A1}.ipynb",
        16,
        "deserves 11; students have the project, and it holds the right results; the note must say: look at it",
        changed={"layer-norm": answers.TAKEN_SOLUTION},
        notes=(WAITS, "helpers.activities", "look at it"),
    ),
    Submission(
        "@Di_Wolf",
        f"Mail/@Di Wolf/{A1}.ipynb",
        11,
        "input() stops the cell before the function is there: 0 of 5; the kernel that the file names does no harm",
        language="en",
        changed={"layer-norm": answers.ASKING_LAYER_NORM},
        happened=happenings.wrong_kernel,
    ),
    Submission(
        "Yara_Sommer",
        f"Mail/Yara Sommer/deutsch/{A1}.ipynb",
        11,
        "statistics over the examples: 0 of 5 in German",
        changed={"layer-norm": answers.BATCHNORM},
        told=(("layer-norm", "batchnorm"),),
    ),
    Submission(
        "Yara_Sommer",
        f"Mail/Yara Sommer/english/{A1}.ipynb",
        16,
        "all right in English: the better of the two languages counts",
        language="en",
        notes=(WAITS, "Yara_Sommer/01_layernorm-en counts"),
    ),
    Submission(
        "Sven_Ek",
        f"Mail/Sven Ek/{A1}.ipynb",
        16,
        "all right, in Swedish, in which this course has no assignment: the points are the same",
        language="sv",
        notes=(WAITS, "Swedish"),
        shown=(answers.REVIEW["sv"],),
    ),
    Submission(
        "Münch_Ute",
        f"Mail/M\udcfcnch Ute/{A1}.ipynb",
        None,
        "the name of the folder cannot be read",
        notes=("name cannot be read",),
    ),
]

CLASS = [*MOODLE, *BLIND, *CANVAS, *MAIL]
