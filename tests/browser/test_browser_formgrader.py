"""What a student wrote does nothing in the formgrader, which can change marks; it stays readable there."""

import json
import os
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import collecting, grade_submissions
from notebook_files import reading
from tests.support import browser, formgrader
from tests.support import small_course as small

pytestmark = pytest.mark.slow

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SHOWN = f"Read me: $x^2$ **bold** ![dot](attachment:dot.png) <img alt='own' src='data:image/png;base64,{PICTURE}'>"
OUTPUTS = """from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display
import json
script = json.loads({script!r})
display(HTML(f"<p>Shown as HTML</p><script>{{script}}</script>"))
display(HTML("<p>isolated</p>"), metadata={{"text/html": {{"isolated": True}}}})
display(Javascript(script), SVG(f'<svg xmlns="http://www.w3.org/2000/svg"><script>{{script}}</script></svg>'))
display(Markdown(f"<script>{{script}}</script>"), Latex("$x$ <script>" + script + "</script>"))
quoted = script.replace("&", "&amp;").replace('"', "&quot;")
display({{"image/png": f'x" onerror="{{quoted}}'}}, raw=True)
display({{"image/png": "{picture}"}}, raw=True, metadata={{"image/png": {{"width": f'1" onload="{{quoted}}'}}}})
def double(x):
    return 0"""


@pytest.fixture(scope="module")
def attacked(made, grading_server, tmp_path_factory):
    """Return a graded course in which students attack, and what each had before anybody looked at it."""
    folder = tmp_path_factory.mktemp("attacked")
    course = Path(shutil.copytree(made / "course", folder / "course")).resolve()
    released = small.released(course)
    code = OUTPUTS.format(script=json.dumps(formgrader.SET_MARKS), picture=PICTURE)
    answers = {
        "text": {"judgement": "\n\n".join([SHOWN, *formgrader.attacks().values()]), "double": "def double(x): ..."},
        "output": {"judgement": "Nothing.", "double": code},
    }
    for student, answer in answers.items():
        notebook = small.answered(released, **answer)
        small.cell(notebook, "judgement").attachments = {"dot.png": {"image/png": PICTURE}}
        small.put(notebook, folder, "in", student, "a.ipynb")
    collecting.collect(course, [folder / "in"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade_submissions, "grade_apart", grading_server)
        report, good = grade_submissions.grade(course)
    assert good, report
    (folder / "config").mkdir()
    return course, folder / "config", scores(course)


def scores(course):
    """Return student → points in the gradebook."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {found.student.id: found.score for found in gradebook.assignment_submissions("01_layernorm-en")}


def ids(course):
    """Return student → the number by which the formgrader knows the notebook."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submissions = gradebook.assignment_submissions("01_layernorm-en")
        return {found.student.id: found.notebooks[0].id for found in submissions}


def look_at(page, address, number):
    """Open a submission as the teacher does, wait until whatever acts has acted, and return whether anything did."""
    reply = page.goto(f"{address}/formgrader/submissions/{number}/", wait_until="domcontentloaded")
    assert reply.status == 200
    page.wait_for_selector("input.score")
    page.wait_for_timeout(2000)
    return page.evaluate("window.attacked === true")


def test_answers_do_not_set_their_own_marks_and_stay_readable(attacked):
    course, config, before = attacked
    assert before == {"text": 3, "output": 3}
    with formgrader.formgrader(course, config) as address, browser.page() as (page, _):
        numbers = ids(course)
        assert not look_at(page, address, numbers["output"])
        assert page.get_by_text("Shown as HTML", exact=True).count() == 1
        assert not look_at(page, address, numbers["text"])
        assert page.locator("strong", has_text="bold").count() == 1
        assert page.locator("math msup").count() == 1
        for picture in ("dot", "own"):
            assert page.locator(f"img[alt={picture}]").evaluate("image => image.naturalWidth") == 1
        assert page.locator("#notebook-container :is(script, iframe, form, object, embed, style)").count() == 0
    assert scores(course) == before


def test_what_was_graded_before_answers_were_sanitised_does_nothing_either(attacked, tmp_path):
    course = Path(shutil.copytree(attacked[0], tmp_path / "course"))
    (tmp_path / "config").mkdir()
    graded = next((course / "autograded" / "text").rglob("*.ipynb"))
    os.chmod(graded, 0o644)
    notebook = reading.read(graded)
    small.cell(notebook, "judgement").source = "\n\n".join(formgrader.attacks().values())
    reading.write(graded, notebook)
    with formgrader.formgrader(course, tmp_path / "config") as address, browser.page() as (page, _):
        assert not look_at(page, address, ids(course)["text"])
    assert scores(course) == attacked[2]
