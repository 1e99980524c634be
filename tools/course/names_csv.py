"""The teacher's file DIR/names.csv: who is who, where names alone cannot tell."""

import csv
import unicodedata

FILE = "names.csv"


def read(directory):
    """Return the rows of names.csv as (as found, right name).

    Between the two stands a comma, a semicolon or a tab; the file may be in UTF-8, in UTF-16 or in Windows's cp1252, as
    spreadsheets write it. Rows without two names are left out."""
    file = directory / FILE
    if not file.exists():
        return []
    rows = []
    for line in text_of(file.read_bytes()).splitlines():
        found, right = columns(line)
        if found and right:
            rows.append((found, right))
    return rows


def text_of(data):
    """Return the text of a file whose encoding is not known."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def columns(line):
    """Return the first two columns of a line, "" for what is missing."""
    separator = ","
    for possible in ("\t", ";"):
        if possible in line:
            separator = possible
    cells = next(csv.reader([line], delimiter=separator), [])
    cells = [unicodedata.normalize("NFC", cell).strip() for cell in cells]
    return (*cells, "", "")[:2]
