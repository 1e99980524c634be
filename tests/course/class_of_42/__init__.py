"""A course in German and English as a class of invented people would hand it in: 42 files, on the real assignments.

    answers.py      what students write into the answer cells: right in many styles, classic mistakes, and attacks
    happenings.py   what happens to a notebook on its way: cells deleted, ids lost, line ends changed, packed into a zip
    submissions.py  the 42 files: who, how it was handed in, what is in it, and the points that it deserves and why
    later.py        what comes after the first marking: points by hand, corrected names, second attempts
    test_class_of_42.py

The points were decided from the assignments and the page for teachers before anything was graded.
"""
