"""What a course hands out: stubs in three languages, and the committed assignments."""

import pytest

from course import course_folder
from nbgrader_hooks import TEXT_STUBS
from notebook_files import layout, reading
from tests.support import small_course as small


def test_release_has_stubs_of_its_language_and_no_solution_or_hidden_check(course):
    for language, stub in TEXT_STUBS.items():
        notebook = small.released(course, language)
        text = "\n".join(cell.source for cell in notebook.cells)
        assert small.cell(notebook, "judgement").source == stub
        assert small.cell(notebook, "double").source == "def double(x):\n    ..."
        assert "hidden" not in text.lower() and "return 2" not in text and "SOLUTION" not in text
        assert small.cell(notebook, "double-check").metadata.editable is False


def test_code_is_the_same_in_all_languages(course):
    english, *others = (small.released(course, language) for language in layout.LANGUAGES)
    code = [cell.source for cell in english.cells if cell.cell_type == "code"]
    for language, other in zip(layout.OTHERS, others):
        there = [cell.source for cell in other.cells if cell.cell_type == "code"]
        assert there[1:] == code[1:] and there[0] == code[0].replace('use("en")', f'use("{language}")')


@pytest.mark.slow
def test_release_writes_the_same_twice_and_what_the_course_hands_out(course, tmp_path):
    tree = small.make_tree(tmp_path / "tree")
    assert len(course_folder.release(tree)) == 3
    assert course_folder.release(tree) == ["nothing has changed"]
    for language in layout.LANGUAGES:
        path = tree / "notebooks" / language / "assignments" / f"{small.LESSON}.ipynb"
        assert reading.read(path) == small.released(course, language)


@pytest.mark.slow
def test_committed_assignments_are_what_release_makes(tmp_path):
    def texts(root, folder):
        files = (root / "notebooks").glob(f"*/{folder}/*.ipynb")
        return {str(file.relative_to(root)): file.read_text(encoding="utf8") for file in files}

    for name, text in texts(layout.ROOT, "solutions").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf8")
    course_folder.release(tmp_path)
    made = texts(tmp_path, "assignments")
    assert texts(layout.ROOT, "assignments") == made, "run: python tools/classroom.py release"
