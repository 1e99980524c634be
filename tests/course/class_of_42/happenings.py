"""What happens to a notebook before it is handed in. Each function changes a notebook that holds the answers."""

import copy
import io
import json
import zipfile

from nbformat.v4 import new_markdown_cell, output_from_msg

from tests.course.class_of_42 import answers
from tests.support.small_course import cell


def copied(one, source):
    """Return a copy of a cell as JupyterLab makes one: with the metadata, and an id of its own."""
    twin = copy.deepcopy(one)
    twin["id"] = f"{one['id'][:30]}-twin"
    twin.source = source
    return twin


def put_behind(notebook, name, *cells):
    position = notebook.cells.index(cell(notebook, name)) + 1
    notebook.cells[position:position] = cells


def check_deleted(notebook):
    notebook.cells.remove(cell(notebook, "layer-norm-check"))


def check_edited(notebook):
    check = cell(notebook, "which-axis-check")
    check.source = "pass"
    check.metadata.nbgrader.points = 100


def check_and_answer_doubled(notebook):
    """The check stands there twice, and the first answer has a second copy further down with other numbers."""
    check = cell(notebook, "by-hand-check")
    put_behind(notebook, "by-hand-check", copied(check, check.source))
    second = copied(cell(notebook, "by-hand"), answers.WRONG_SIGNS)
    put_behind(notebook, "which-axis-check", second)


def ids_changed_and_order_reversed(notebook):
    for number, one in enumerate(notebook.cells):
        one["id"] = f"cell-{number}"
    notebook.cells.reverse()


def large_output(notebook):
    text = {"header": {"msg_type": "stream"}, "content": {"name": "stdout", "text": "0.123 " * 10_000_000}}
    cell(notebook, "layer-norm").outputs = [output_from_msg(text)]


def saved_in_colab(notebook):
    """Colab drops the ids of the cells and writes its own into the metadata."""
    for number, one in enumerate(notebook.cells):
        one.pop("id", None)
        one.metadata["id"] = f"a{number}Bc"
    notebook.metadata = {"colab": {"provenance": []}, "kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook.nbformat_minor = 0


def saved_in_vs_code(notebook):
    for one in notebook.cells:
        one.metadata["vscode"] = {"languageId": "python" if one.cell_type == "code" else "markdown"}
    notebook.metadata = {
        "kernelspec": {"display_name": ".venv", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "version": "3.12.4"},
    }


def wrong_kernel(notebook):
    notebook.metadata = {
        "kernelspec": {"display_name": "R", "language": "R", "name": "ir"},
        "language_info": {"name": "R"},
    }


def numpy_among_the_imports(notebook):
    imports = next(one for one in notebook.cells if one["id"] == "imports")
    imports.source = "import numpy as np\n" + imports.source


def norms_among_the_imports(notebook):
    cell(notebook, "imports").source += "\nimport helpers.norms"


def split_code_and_text_below(notebook):
    """The function is split between two cells, and the written answer stands in a cell of its own."""
    lines = cell(notebook, "layer-norm").source.split("\n")
    cell(notebook, "layer-norm").source = "\n".join(lines[:2])
    put_behind(notebook, "layer-norm", copied(cell(notebook, "layer-norm"), "\n".join(lines[2:])))
    text = cell(notebook, "review").source
    cell(notebook, "review").source = ""
    put_behind(notebook, "review", new_markdown_cell(text, id="my-own-text"))


# how a notebook becomes a file


def as_json(notebook):
    return json.dumps(notebook, ensure_ascii=False, indent=1).encode("utf8")


def with_windows_lines(notebook):
    """A mark at the beginning, and CRLF at the end of each line, inside of the cells as well."""
    for one in notebook.cells:
        one.source = one.source.replace("\n", "\r\n")
    return b"\xef\xbb\xbf" + as_json(notebook).replace(b"\n", b"\r\n")


def in_a_zip(notebook):
    """A zip file as a Mac makes it of a folder."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("Abgabe/01_layernorm.ipynb", as_json(notebook))
        archive.writestr("__MACOSX/Abgabe/._01_layernorm.ipynb", b"\x00\x05\x16\x07")
    return data.getvalue()


def as_pdf(notebook):
    return b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"


def as_program(notebook):
    return "\n\n".join(one.source for one in notebook.cells if one.cell_type == "code").encode("utf8")


def as_nothing(notebook):
    return b""


def cut_off(notebook):
    data = as_json(notebook)
    return data[: len(data) // 2]
