"""What a file is that cannot be used, in a sentence that also says what to ask the student for."""

import zipfile

ASK = "ask the student for the notebook itself, the .ipynb file (File → Download)"
STARTS = [  # how files begin, and what they are then
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"Rar!", "an archive made with RAR"),
    (b"7z\xbc\xaf", "an archive made with 7-Zip"),
    (b"\x1f\x8b", "an archive of the kind tar.gz"),
    (b"\xd0\xcf\x11\xe0", "a document of an old version of Office"),
]
OFFICE = {"word/": "a Word document", "xl/": "an Excel table", "ppt/": "a PowerPoint presentation"}
ENDINGS = {
    ".py": "a Python program, not the notebook",
    ".txt": "a text file",
    ".md": "a text file",
    ".csv": "a table",
    ".html": "a web page",
    ".htm": "a web page",
    ".tex": "a LaTeX file",
    ".docx": "a Word document",
    ".odt": "a text document",
    ".pages": "a Pages document",
    ".pdf": "a PDF",
}


def not_a_notebook(path):
    """Return the sentence for a file that holds no notebook."""
    with open(path, "rb") as file:
        start = file.read(4096)
    if not start.strip():
        return "the file is empty, the upload may have broken off: ask the student to hand it in again"
    return f"{kind(path, start)}: {ASK}"


def kind(path, start):
    """Return what a file is, from its first bytes or else from its ending."""
    for beginning, name in STARTS:
        if start.startswith(beginning):
            return name
    if start.startswith(b"PK\x03\x04"):
        return kind_of_zip(path)
    text = start.decode("utf8", "replace").lstrip("\ufeff \r\n\t").lower()
    if text.startswith(("<!doctype html", "<html", "<?xml")):
        return "a web page"
    return ENDINGS.get(path.suffix.lower(), "not a notebook that can be read")


def kind_of_zip(path):
    """Return what a file is that is packed as a zip file is."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return "a damaged zip file"
    for folder, name in OFFICE.items():
        if any(part.startswith(folder) for part in names):
            return name
    if "mimetype" in names and "content.xml" in names:
        return "a text document"
    return "a zip file under another name"
