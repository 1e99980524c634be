"""What comes after the first marking: points by hand, corrected names, and a newer zip file of the same name."""

from tests.course.class_of_42 import answers, happenings
from tests.course.class_of_42.submissions import A1, A2, WAITS, Submission, moodle

REWRITTEN = "Nein, denn spätere Token erreichen frühere. Ein Test tauscht das letzte Token aus und vergleicht."

BY_HAND = [  # student, assignment, cell, points, comment
    ("Amelie_Thoma", f"{A1}-de", "review", 3.5, "Gut begründet."),
    ("Bruno_Keller", f"{A1}-de", "review", 2, "Und der Test?"),
    ("Kira_Vogt", f"{A1}-de", "review", 4, "Sehr klar."),
    ("Teilnehmer_in_610001", f"{A2}-de", "judgement", 3, "Was hieße „besser“?"),
]

NAMES = [  # lines of names.csv: as found, right name
    ("Kira Vogt", "Kira Voigt"),
    ("Teilnehmer_in_610001_assignsubmission_file_", "Selma Roth"),
    ("Öberg Tim (2)", "Ulrik Öberg"),
    (f"stahl_uma_en_{A1}.ipynb", "Uma En Stahl"),
]

NEWER = [  # the same activity of Moodle, downloaded once more; points are those of the better attempt
    Submission(
        "Amelie_Thoma",
        moodle("Amelie Thoma", 510001),
        19.5,
        "the second attempt lost a function; the first one counts, with its 3.5 points by hand",
        changed={"layer-norm": "def layer_norm(x, gamma, beta, eps):\n    ..."},
        notes=("Amelie_Thoma/01_layernorm-de counts",),
    ),
    Submission(
        "Bruno_Keller",
        moodle("Bruno Keller", 510002),
        18,
        "the written answer is another one: its points wait, and the first attempt counts with its 2",
        changed={"layer-norm": answers.NUMPY_LAYER_NORM, "leak": answers.NUMPY_LEAK, "review": REWRITTEN},
        notes=("new answer waits", "2 points were given for attempt 1", "Bruno_Keller/01_layernorm-de counts"),
    ),
    Submission(
        "Georg_Haas",
        moodle("Georg Haas", 510009),
        16,
        "the second attempt is right",
        notes=("Georg_Haas~2/01_layernorm-de counts",),
    ),
    Submission(
        "Kira_Voigt",
        moodle("Kira Vogt", 510013),
        20,
        "the same file once more is no attempt; the points and the comment are there under the right name",
        happened=happenings.ids_changed_and_order_reversed,
        notes=("another order",),
    ),
    Submission(
        "Tina_Haller",
        moodle("Tina Haller", 510021),
        16,
        "the notebook in the place of the PDF: all right, and no word of the PDF any more",
        notes=(WAITS,),
    ),
]

RENAMED = {  # the name before → the name after, and the points in the lesson
    "Kira_Vogt": ("Kira_Voigt", A1, 20),
    "Teilnehmer_in_610001": ("Selma_Roth", A2, 19),
    "Öberg_Tim_2": ("Ulrik_Öberg", A1, 6),
    "stahl_uma_en": ("Uma_En_Stahl", A1, 16),
}
NOT_ANY_MORE = {
    "Tina_Haller": ("PDF", "skipped"),
    "Kira_Voigt": (WAITS,),
    "Selma_Roth": (WAITS,),
    "Öberg_Tim": ("another of this name",),
    "Ulrik_Öberg": ("another of this name",),
}
