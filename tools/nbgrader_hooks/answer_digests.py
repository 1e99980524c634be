"""Which answers a mark was given for, so that points for an old answer are not taken for points for a new one."""

import hashlib
import json

from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

RECORD = "answers"  # the name in the metadata of a graded notebook


def digest_of(cells):
    """Return a digest of what stands in cells, pictures included."""
    parts = [
        ["\n".join(cell.source.splitlines()).strip(), json.dumps(cell.get("attachments", {}), sort_keys=True)]
        for cell in cells
    ]
    return hashlib.sha256(json.dumps(parts).encode("utf8")).hexdigest()[:16]


def answers_of(notebook):
    """Return grade_id → digest of the answer that points or a comment there are about.

    For an answer it is the answer's own; for a check it is that of the answers above it, up to the check before."""
    digests = {}
    above = []
    after_check = False
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name and is_solution(cell):
            above = [cell] if after_check else [*above, cell]
            after_check = False
            digests[name] = digest_of([cell])
        elif name and is_grade(cell):
            after_check = True
            digests[name] = digest_of(above)
    return digests


def graded_answers(notebook):
    """Return the digests of the answers for which a graded notebook was graded."""
    recorded = notebook.metadata.get(RECORD)
    return dict(recorded) if recorded else answers_of(notebook)


class RecordAnswers(NbGraderPreprocessor):
    """Notes in a graded notebook which answers were graded, before they are sanitised."""

    def preprocess(self, nb, resources):
        nb.metadata[RECORD] = answers_of(nb)
        return nb, resources
