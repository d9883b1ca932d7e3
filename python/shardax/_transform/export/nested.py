"""shardax/_transform/export/nested.py - exported functions of symbolic sizes that are called while
another function is exported: their sizes are checked as expressions of its variables."""

import contextlib
import contextvars
import itertools

from shardax._transform.export.symbolic_programs import MORE, Columns, Fit, environments

_calls = contextvars.ContextVar("calls of exported functions", default=None)


class Unsolvable(ValueError):
    """A call of sizes for which the called function has no values of its variables."""


@contextlib.contextmanager
def calls_recorded():
    """Gives the list of (check, shapes) of calls made inside: check(shapes) raises where shapes,
    which may be symbolic, do not fit."""
    made = []
    token = _calls.set(made)
    try:
        yield made
    finally:
        _calls.reset(token)


def record(check, shapes):
    """Tells those who record of a call."""
    made = _calls.get()
    if made is not None:
        made.append((check, shapes))


class Watched:
    """`stage(env)`, a function of values of variables, whose calls of exported functions are
    recorded for each."""

    def __init__(self, stage, name, shapes, scope):
        self.stage, self.name, self.shapes, self.scope = stage, name, shapes, scope
        self.made = []

    def __call__(self, env):
        with calls_recorded() as calls:
            self.made.append((env, calls))
            return self.stage(env)

    def explain(self):
        """After a call that failed: the other values are tried, and sizes that do not fit for all
        of them are refused as expressions."""
        for env in self._environments():
            with contextlib.suppress(Unsolvable):
                self(env)
        self.check()

    def check(self):
        """Checks the calls, the same for all values, with sizes that are expressions."""
        envs = self._environments()
        made = [(env, calls) for env, calls in self.made if env in envs]
        fit = Fit(self.name, self._columns(), [env for env, _ in made])
        for calls in zip(*(calls for _, calls in made)):
            shapes = [
                [n[0] if len(set(n)) == 1 else fit(list(n), "a size") for n in zip(*sizes)]
                for sizes in zip(*(shapes for _, shapes in calls))
            ]
            calls[0][0](shapes)

    def _columns(self):
        return Columns(self.scope, self._variables(), self.shapes)

    def _variables(self):
        sizes = itertools.chain(*self.shapes)
        return tuple(sorted(set().union(*(n.variables() for n in sizes if hasattr(n, "terms")))))

    def _environments(self):
        found = environments(self.scope, self._variables(), self.shapes)
        return list(itertools.islice(found, len(self._columns().sizes) + MORE))
