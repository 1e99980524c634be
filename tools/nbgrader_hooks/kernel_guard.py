"""Runs in the grading kernel before a student's code; the course's nbgrader_config.py names it to the kernel.

In the environment stand GUARD_HIDDEN, the folders that are not to be read, and GUARD_WORDS, what it says to students.
It keeps code from writing outside the kernel's own folder, from reading the course and the solutions, from
starting programs and from the network, and keeps the checks from being replaced. An audit hook cannot be
taken away again, but it is no wall: code that sets out to break it, with ctypes for example, can.
"""


def guard():
    import json
    import os
    import sys
    from types import ModuleType

    real, join, sep = os.path.realpath, os.path.join, os.sep
    fsdecode, readlink, nowhere = os.fsdecode, os.readlink, (os.devnull, ":memory:")
    own = real(os.getcwd())
    hidden = tuple(real(path) for path in os.environ.pop("GUARD_HIDDEN", "").split(os.pathsep) if path)
    words = json.loads(os.environ.pop("GUARD_WORDS"))
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    changing = {f"os.{name}" for name in "remove rename rmdir mkdir link symlink truncate chmod chown utime".split()}
    changing |= {"sqlite3.connect"}
    looking = {"os.listdir", "os.scandir", "os.chdir"}
    forbidden = {f"os.{name}" for name in "system exec fork forkpty posix_spawn spawn startfile kill killpg".split()}
    forbidden |= {"subprocess.Popen", "socket.connect", "socket.sendto", "socket.sendmsg"}

    def inside(path, folder):
        return path == folder or path.startswith(folder + sep)

    def place(path, folder):
        """Return where a path leads; `folder` is the number of an open directory it starts from, or −1."""
        start = readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder >= 0 else ""
        return real(join(start, "" if isinstance(path, int) else fsdecode(path)))

    def check(event, args):
        if event == "open":
            path, _, flags = args
            if isinstance(path, int):
                return
            found = place(path, -1)
            if any(inside(found, folder) for folder in hidden):
                raise PermissionError(words["not_read"].format(path=path))
            if flags & writing and path not in nowhere and not inside(found, own):
                raise PermissionError(words["outside"].format(path=path))
        elif event in looking:
            if any(inside(place(args[0] or ".", args[0]), folder) for folder in hidden):
                raise PermissionError(words["not_read"].format(path=args[0]))
        elif event in changing:
            numbers = [arg for arg in args if isinstance(arg, int) and event != "os.truncate"]
            folder = numbers[-1] if numbers else -1
            for path in args:
                if isinstance(path, (str, bytes)) and path not in nowhere and not inside(place(path, folder), own):
                    raise PermissionError(words["outside"].format(path=path))
        elif event in forbidden:
            raise PermissionError(words["not_allowed"].format(event=event))

    modules = sys.modules
    helpers_check = "helpers.activities.check"

    class Frozen(ModuleType):
        def __setattr__(self, name, value):
            """Refuse, but let `import` give a package the name of a module that it has loaded for the first time."""
            loaded = type(value) in (ModuleType, Frozen) and modules.get(f"{self.__name__}.{name}") is value
            if not loaded or name in vars(self):
                raise AttributeError(words["not_changed"].format(name=f"{self.__name__}.{name}"))
            super().__setattr__(name, value)

        def __delattr__(self, name):
            raise AttributeError(words["not_changed"].format(name=f"{self.__name__}.{name}"))

    shell = get_ipython()  # noqa: F821
    checks = {}  # the names under which cells know the checks, and what they mean

    def is_check(value):
        names = getattr(value, "__name__", ""), getattr(value, "__module__", "")
        return helpers_check in names

    def freeze(result=None):
        """Freeze the modules of helpers once a cell has imported them, and note what it calls the checks."""
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "helpers" and type(module) is ModuleType:
                module.__class__ = Frozen
        for name, value in shell.user_ns.items():
            if is_check(value):
                checks.setdefault(name, value)

    def restore(info=None):
        """Give the checks their names back, if a cell took these for something else."""
        shell.user_ns.update(checks)

    register = shell.events.register

    def only_harmless(event, function):
        if event not in ("post_execute", "shell_initialized"):  # the others are told the source of a cell
            raise PermissionError(words["not_allowed"].format(event=event))
        register(event, function)

    def not_run(command):
        print(words["not_run"].format(command=command))

    shell.system = not_run  # !command and %pip
    register("post_run_cell", freeze)
    register("pre_run_cell", restore)
    shell.events.register = only_harmless
    sys.addaudithook(check)


guard()
del guard
