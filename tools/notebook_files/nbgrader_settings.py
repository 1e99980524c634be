"""What nbgrader is told about a cell."""

ADDED = ("checksum", "cell_type")  # by nbgrader to what it knows of a cell


def grading(cell):
    """Return what nbgrader is told about a cell: points, grade_id and whether it is locked, a check, a solution."""
    settings = cell.metadata.get("nbgrader")
    if not isinstance(settings, dict):
        return {}
    return {key: value for key, value in settings.items() if key not in ADDED}
