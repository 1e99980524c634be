"""What a reader does in the notebooks beside reading: the assignments' checks, and the tasks that they know."""
