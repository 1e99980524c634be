"""Runs in the grading kernel before a student's code; the course's nbgrader_config.py names it to the kernel.

In the environment stand GUARD_HIDDEN, the folders that are not to be read, and GUARD_WORDS, what it says to students.
It keeps code from writing outside the kernel's own folder, from reading the course and the solutions, from
starting programs and from the network, and keeps the checks from being replaced. An audit hook cannot be
taken away again, but it is no wall: code that sets out to break it, with ctypes for example, can.

The names in this file are the student's as well, so they go at its end, and what stays needs none of them: each
function finds what it calls in the function around it.
"""


def places():
    """Return two functions: whether a path is in a folder, and where a path leads."""
    import os

    real, join, sep = os.path.realpath, os.path.join, os.sep
    fsdecode, readlink = os.fsdecode, os.readlink

    def inside(path, folder):
        return path == folder or path.startswith(folder + sep)

    def place(path, folder):
        """Return where a path leads; `folder` is the number of an open directory it starts from, or −1."""
        start = readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder >= 0 else ""
        return real(join(start, "" if isinstance(path, int) else fsdecode(path)))

    return inside, place


def watch_opening(inside, place, own, hidden, words):
    """Return what refuses to open hidden files, and to write elsewhere than in the kernel's own folder."""
    import os

    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    nowhere = (os.devnull, ":memory:")

    def check(event, args):
        path, _, flags = args
        if isinstance(path, int):
            return
        found = place(path, -1)
        if any(inside(found, folder) for folder in hidden):
            raise PermissionError(words["not_read"].format(path=path))
        if flags & writing and path not in nowhere and not inside(found, own):
            raise PermissionError(words["outside"].format(path=path))

    return check


def watch_folders(inside, place, own, hidden, words):
    """Return what refuses to look into hidden folders, and what refuses to change anything elsewhere."""
    import os

    nowhere = (os.devnull, ":memory:")

    def check_looking(event, args):
        if any(inside(place(args[0] or ".", args[0]), folder) for folder in hidden):
            raise PermissionError(words["not_read"].format(path=args[0]))

    def check_changing(event, args):
        numbers = [arg for arg in args if isinstance(arg, int) and event != "os.truncate"]
        folder = numbers[-1] if numbers else -1
        for path in args:
            if isinstance(path, (str, bytes)) and path not in nowhere and not inside(place(path, folder), own):
                raise PermissionError(words["outside"].format(path=path))

    return check_looking, check_changing


def watch(words):
    """Return the audit hook."""
    import os

    own = os.path.realpath(os.getcwd())
    named = os.environ.pop("GUARD_HIDDEN", "").split(os.pathsep)
    hidden = tuple(os.path.realpath(path) for path in named if path)
    inside, place = places()
    check_opening = watch_opening(inside, place, own, hidden, words)
    check_looking, check_changing = watch_folders(inside, place, own, hidden, words)

    def refuse(event, args):
        raise PermissionError(words["not_allowed"].format(event=event))

    watched = {"open": check_opening, "sqlite3.connect": check_changing}
    for name in "remove rename rmdir mkdir link symlink truncate chmod chown utime".split():
        watched[f"os.{name}"] = check_changing
    for name in "listdir scandir chdir".split():
        watched[f"os.{name}"] = check_looking
    for name in "system exec fork forkpty posix_spawn spawn startfile kill killpg".split():
        watched[f"os.{name}"] = refuse
    for event in ("subprocess.Popen", "socket.connect", "socket.sendto", "socket.sendmsg"):
        watched[event] = refuse
    find = watched.get

    def check(event, args):
        found = find(event)
        if found is not None:
            found(event, args)

    return check


def freezing(words):
    """Return what freezes the modules of helpers that are loaded: their names cannot be given another meaning."""
    import sys
    from types import ModuleType

    modules = sys.modules

    class Frozen(ModuleType):
        def __setattr__(self, name, value):
            """Refuse, but let `import` give a package the name of a module that it has loaded for the first time."""
            loaded = type(value) in (ModuleType, Frozen) and modules.get(f"{self.__name__}.{name}") is value
            if not loaded or name in vars(self):
                raise AttributeError(words["not_changed"].format(name=f"{self.__name__}.{name}"))
            super().__setattr__(name, value)

        def __delattr__(self, name):
            raise AttributeError(words["not_changed"].format(name=f"{self.__name__}.{name}"))

    def freeze():
        for name, module in list(modules.items()):
            if name.partition(".")[0] == "helpers" and type(module) is ModuleType:
                module.__class__ = Frozen

    return freeze


def keep_checks(shell, words):
    """Let a shell freeze helpers once a cell has imported them, and give the checks their names back."""
    helpers_check = "helpers.activities.check"
    checks = {}  # the names under which cells know the checks, and what they mean
    freeze = freezing(words)

    def note(result=None):
        freeze()
        for name, value in shell.user_ns.items():
            names = getattr(value, "__name__", ""), getattr(value, "__module__", "")
            if helpers_check in names:
                checks.setdefault(name, value)

    def restore(info=None):
        """Give the checks their names back, if a cell took these for something else."""
        shell.user_ns.update(checks)

    register = shell.events.register

    def only_harmless(event, function):
        if event not in ("post_execute", "shell_initialized"):  # the others are told the source of a cell
            raise PermissionError(words["not_allowed"].format(event=event))
        register(event, function)

    register("post_run_cell", note)
    register("pre_run_cell", restore)
    shell.events.register = only_harmless


def guard(shell):
    """Start guarding; nothing takes it back."""
    import json
    import os
    import sys

    words = json.loads(os.environ.pop("GUARD_WORDS"))

    def not_run(command):
        print(words["not_run"].format(command=command))

    shell.system = not_run  # !command and %pip
    keep_checks(shell, words)
    sys.addaudithook(watch(words))


guard(get_ipython())  # noqa: F821, the kernel's
for name in ("guard", "keep_checks", "freezing", "watch", "watch_folders", "watch_opening", "places"):
    globals().pop(name)
del name
