"""shardax/_debug/breakpoints.py - stopping a program to look at the values in the frames that
traced it."""

import cmd
import functools
import inspect
import linecache
import pprint
import sys
import threading
import traceback

from shardax import tree_util
from shardax._base.tracebacks import in_package
from shardax._core import Tracer
from shardax._transform.callbacks import debug_callback, pure_callback
from shardax.lax import stop_gradient

_one_at_a_time = threading.Lock()


def breakpoint(
    *,
    backend=None,
    filter_frames=True,
    num_frames=None,
    ordered=False,
    token=None,
    stdin=None,
    stdout=None,
):
    """Stops the program when it comes here, and reads commands of a debugger. `p x` shows the value
    of an expression, `u` and `d` go to the caller's frame and back, `l` lists the source, `bt` the
    frames. `c` continues, `q` quits; `help` tells all.

    The frames are those in which the program was traced, with the values of the variables in this
    run. Inside pmap and vmap it stops once per device and batch element.

    Args:
      filter_frames: leave out frames of this package.
      num_frames: how many frames to keep, the innermost ones.
      token: a tree of arrays, which is returned: it stops where these are computed, and only if the
        result is used.
      stdin, stdout: files instead of the terminal.
      backend, ordered: without effect: there is one debugger, and it stops in program order.

    Raises:
      ValueError: both `ordered` and `token` are given.

    Example:
      >>> import io, sys
      >>> def f(x):
      ...     y = jnp.sin(x)
      ...     shardax.debug.breakpoint(stdin=io.StringIO("p y\\nc\\n"), stdout=sys.stdout)
      ...     return y
      >>> _ = shardax.jit(f)(jnp.zeros(()))  # doctest: +NORMALIZE_WHITESPACE
      Entering jdb:
      (jdb) Array(0., dtype=float32)
      (jdb)
    """
    if token is not None and ordered:
        raise ValueError("`ordered` and `token` are mutually exclusive arguments.")
    frames = _frames(sys._getframe(1), filter_frames)[:num_frames]
    traced = [leaf for frame in frames for leaf in frame.traced]

    def stop(values):
        values = iter(values)
        for frame in frames:
            frame.fill(values)
        with _one_at_a_time:
            _Commands(frames, stdin, stdout).run()

    if token is None:
        debug_callback(lambda *values: stop(values), *traced)
        return None
    token, traced = stop_gradient((token, traced))

    def stop_and_return(token, *values):
        stop(values)
        return token

    return pure_callback(stop_and_return, token, token, *traced)


class _Frame:
    """A frame of the stack, as it was when the breakpoint was traced."""

    def __init__(self, frame):
        self.file = frame.f_code.co_filename
        self.line = frame.f_lineno
        self._code = frame.f_code
        self.globals = frame.f_globals
        self.locals = dict(frame.f_locals)
        self.traced = []
        self._places = []  # of tracers: (variable, tree, leaves, positions of tracers in them)
        for name, value in self.locals.items():
            try:
                leaves, tree = tree_util.tree_flatten(value)
            except Exception:  # leaves that a user's node cannot take apart are shown as they are
                continue
            at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tracer)]
            if at:
                self._places.append((name, tree, leaves, at))
                self.traced += [leaves[i] for i in at]

    def fill(self, values):
        """Puts the values of a run in the tracers' places; `values` is an iterator."""
        for name, tree, leaves, at in self._places:
            for i in at:
                leaves[i] = next(values)
            self.locals[name] = tree_util.tree_unflatten(tree, leaves)

    def evaluate(self, expression):
        return eval(expression, {**self.globals, **self.locals})

    def source(self, around):
        """The lines of the function around this one, which is marked."""
        try:
            lines, first = inspect.getsourcelines(self._code)
            lines = [*lines, ""]  # the function's end
        except OSError:  # typed in, say
            lines, first = [], 1
        text = [f"> {self.file}({self.line})"]
        for number, line in enumerate(lines, max(first, 1)):
            if -around - 1 <= number - self.line <= around:
                text.append(f"{'->' if number == self.line else '  '}  {line}".rstrip())
        return "\n".join(text)


def _frames(frame, filtered):
    frames = []
    while frame is not None:
        if not (filtered and in_package(frame)):
            frames.append(_Frame(frame))
        frame = frame.f_back
    return frames


def _told(method):
    """An exception of the user's expression is printed, and the debugger goes on."""

    @functools.wraps(method)
    def told(self, argument):
        try:
            method(self, argument)
        except Exception as e:
            self._say("***", traceback.format_exception_only(e)[-1].strip())

    return told


class _Commands(cmd.Cmd):
    prompt = "(jdb) "
    intro = "Entering jdb:"

    def __init__(self, frames, stdin, stdout):
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None
        self._frames = frames
        self._at = 0

    def run(self):
        while True:
            try:
                return self.cmdloop()
            except KeyboardInterrupt:
                self._say("--KeyboardInterrupt--")

    def _say(self, *words):
        print(*words, file=self.stdout)

    @property
    def _frame(self):
        return self._frames[self._at]

    def emptyline(self):
        pass

    @_told
    def default(self, line):
        self._say(repr(self._frame.evaluate(line)))

    @_told
    def do_p(self, expression):
        """p expression: print its value."""
        self._say(repr(self._frame.evaluate(expression)))

    @_told
    def do_pp(self, expression):
        """pp expression: pretty-print its value."""
        self._say(pprint.pformat(self._frame.evaluate(expression)))

    def do_up(self, _):
        """u(p): to the caller's frame."""
        self._move(1, "At topmost frame.")

    def do_down(self, _):
        """d(own): back from the caller's frame."""
        self._move(-1, "At bottommost frame.")

    def _move(self, step, end):
        if 0 <= self._at + step < len(self._frames):
            self._at += step
        else:
            self._say(end)
        self._say(self._frame.source(2))

    def do_list(self, _):
        """l(ist): the source around the current line."""
        self._say(self._frame.source(5))

    def do_where(self, _):
        """w(here), bt: the frames, the innermost last."""
        self._say("Traceback:")
        for frame in reversed(self._frames):
            line = linecache.getline(frame.file, frame.line, frame.globals).strip()
            self._say(f'  File "{frame.file}", line {frame.line}\n    {line or "<no source>"}')

    def do_continue(self, _):
        """c(ontinue): let the program go on."""
        return True

    def do_quit(self, _):
        """q(uit): leave the program with SystemExit."""
        sys.exit(0)

    do_u, do_d, do_l = do_up, do_down, do_list
    do_w = do_bt = do_where
    do_c = do_cont = do_continue
    do_q = do_exit = do_EOF = do_quit
