"""Records of a course, small JSON files: they are replaced whole, and a damaged one is set aside and named."""

import json
import os


def read(path):
    """Return what a record holds, a dictionary, and a sentence if it was damaged, else "".

    A record that is not there is empty. A damaged one is set aside under a name of its own, so that nothing
    is lost and the next command starts with an empty one."""
    try:
        return look(path), ""
    except ValueError as error:
        aside = free_name(path)
        os.replace(path, aside)
        return {}, f"{error}; it is set aside as {aside.name}, and a new one is begun"


def look(path):
    """Return what a record holds, {} if it is not there. Raises ValueError if it is damaged."""
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf8"))
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name} is damaged") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is damaged")
    return found


def free_name(path):
    """Return a path beside a damaged record under which nothing lies yet."""
    number = 1
    while True:
        aside = path.with_name(f"{path.name}.damaged-{number}")
        if not aside.exists():
            return aside
        number += 1


def replace(path, data):
    """Write a record whole or not at all: beside its place first, then in one step over the old one."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    beside = path.with_name(path.name + ".new")
    with open(beside, "wb") as file:
        # a name that is no Unicode keeps its bytes as \udc.., which JSON can read back
        file.write(text.encode("utf8", "backslashreplace"))
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
