"""shardax/_transform/refs/rules.py - functions with derivative rules of their own that are passed
mutable references, or close over them.

They become functions of values: those of the references go in, and come out as they are written. A
backward rule that keeps a reference among its residuals gets that reference. In a staged function
it gets one that holds the value of its channel (channels.py).
"""

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.custom.arguments import (
    _differentiable,
    _name,
    nondiff_positions,
    zero_from_primal,
)
from shardax._transform.refs import Ref, is_ref
from shardax._transform.refs.binding import Bound, RefArguments, binding, no_refs, reading
from shardax._transform.refs.channels import channel_of


def call_custom_jvp(owner, args):
    """owner(*args), a custom_jvp function."""
    return _call(owner, args, "custom_jvp", _JvpForm)


def call_custom_vjp(owner, args):
    """owner(*args), a custom_vjp function."""
    return _call(owner, args, "custom_vjp", _VjpForm)


def _call(owner, args, api, form):
    given = RefArguments(api, owner.fun, args)
    if not given.refs:
        if not _core.tracing():
            return owner.fun(*args)
        return binding(
            api, lambda refs: form(owner, args, given, refs).outcome(), lambda: owner._call(args)
        )
    if not _core.tracing():
        return no_refs(owner.fun(*args), owner.fun, api)
    return binding(api, lambda refs: form(owner, args, given, refs).outcome(), given=given)


class _Form:
    """The function and its rules as functions of values."""

    def __init__(self, owner, args, given, closed):
        if owner.symbolic_zeros:
            raise NotImplementedError(
                f"{type(owner).__name__}: {_name(owner.fun)} reads or writes mutable array "
                "references, and its rules take symbolic zeros. Define them without "
                "symbolic_zeros."
            )
        self.owner, self.given, self.closed = owner, given, closed
        self.refs = [*given.refs, *closed]
        args = given.values()[0]
        self.count = len(args)
        nondiff = nondiff_positions(
            owner.fun, owner.nondiff_argnums, owner.nondiff_argnames, self.count
        )
        self.nondiff = {n: args[n] for n in sorted(nondiff)}
        self.args = tuple(x for n, x in enumerate(args) if n not in nondiff)
        self.held = reading(closed)
        self.written = []

    def whole(self, args):
        """(the arguments of the user's function, the references made for those among them)."""
        args = list(args)
        for n, value in self.nondiff.items():
            args.insert(n, value)
        args, _, formals = self.given.formal(tuple(args))
        for formal in formals:
            formal._origin = None  # rules inside are not used: no channel
        return args, formals

    def run(self, fun, args, held):
        """(fun(*args), the last values of the references, the references made for it)."""
        args, formals = self.whole(args)
        before = [formal._value for formal in formals] + list(held)
        # Backward rules inside are not used: nothing comes back to them.
        channels = [channel_of(ref) for ref in self.closed if _differentiable(ref.aval)]
        unused = [_core.zeros_of(channel.aval.inner_aval) for channel in channels]
        with Bound([*self.closed, *channels], [*held, *unused]) as bound:
            out = fun(*args)
            after = [formal._value for formal in formals] + bound.values(self.closed)
        self.written = [a is not b for a, b in zip(after, before, strict=True)]
        return out, after, formals

    def write(self, values):
        """Writes the values that the function wrote."""
        for ref, value, written in zip(self.refs, values, self.written, strict=True):
            if written:
                ref._write(_core.bind("stop_gradient", {}, [value])[0])


class _VjpForm(_Form):
    def __init__(self, owner, args, given, closed):
        super().__init__(owner, args, given, closed)
        here = _core.staging_generation()
        leaves = tree_util.tree_leaves((self.args, self.held))
        recorded = here and all(_core.tracer_trace(x)[1] in (0, here) for x in leaves)
        self.channels = {}
        if recorded:  # and differentiated later, elsewhere
            self.channels = {
                i: channel_of(ref) for i, ref in enumerate(self.refs) if _differentiable(ref.aval)
            }
        self.recorded = recorded
        self.residuals = None

    def outcome(self):
        function = type(self.owner)(self.function)
        function.__name__ = _name(self.owner.fun)
        function.defvjp(self.forward, self.backward)
        tokens = [channel.value() for channel in self.channels.values()]
        out, after, tokens = function._call((self.args, self.held, tokens))
        for channel, token in zip(self.channels.values(), tokens):
            channel.give(token)
        for ref, value, written in zip(self.refs, after, self.written, strict=True):
            if self.recorded and not written:  # but the forward rule may write
                ref._write(_moving_as(ref._read(), value))
        self.write(after)
        return out

    def function(self, args, held, tokens):
        out, after, _ = self.run(self.owner.fun, args, held)
        return no_refs(out, self.owner.fun, "custom_vjp"), after, tokens

    def forward(self, args, held, tokens):
        pair, after, formals = self.run(self.owner.fwd, args, held)
        fwd = _name(self.owner.fwd)
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"Custom VJP fwd rule {fwd} for function {_name(self.owner.fun)} must produce a "
                "pair: the primal output and the residuals, but instead of a pair the fwd rule "
                f"{fwd} produced {pair}."
            )
        leaves, tree = tree_util.tree_flatten(pair[1])
        kept = {}
        for i, leaf in enumerate(leaves):
            if is_ref(leaf):
                kept[i] = self._residual(leaf, formals)
        self.residuals = tree, kept
        rest = [leaf for i, leaf in enumerate(leaves) if i not in kept]
        return (no_refs(pair[0], self.owner.fwd, "custom_vjp"), after, tokens), rest

    def _residual(self, ref, formals):
        """The position of a residual among the references."""
        if ref in formals:
            return formals.index(ref)
        if ref in self.refs:
            return self.refs.index(ref)
        raise ValueError(
            f"custom_vjp fwd function {_name(self.owner.fwd)} returned a mutable array reference "
            f"of type {ref.aval} among its residuals that is no argument of it. Pass the reference "
            "as an argument."
        )

    def backward(self, rest, cotangents):
        tree, kept = self.residuals
        rest = iter(rest)
        refs = self._references(cotangents[2])
        leaves = [refs[kept[i]] if i in kept else next(rest) for i in range(tree.num_leaves)]
        residuals = tree_util.tree_unflatten(tree, leaves)
        closed = refs[len(self.given.refs) :]
        channelled = [i for i, ref in enumerate(closed) if ref is not self.closed[i]]
        inside = Bound([self.closed[i] for i in channelled], [closed[i]._value for i in channelled])
        with inside as bound:
            given = self.owner.bwd(*self.nondiff.values(), residuals, cotangents[0])
            for i in channelled:
                closed[i]._value = bound.slots[self.closed[i]]._value
        given = tuple(given) if isinstance(given, list) else given
        return given, None, [refs[i]._value for i in self.channels]

    def _references(self, tokens):
        """The references that the backward rule works on."""
        refs = list(self.refs)
        for i, token in zip(self.channels, tokens):
            refs[i] = Ref(token)
        for i, ref in enumerate(refs):
            if self.recorded and i not in self.channels:
                refs[i] = _NotHere(ref.aval)
        return refs


def _moving_as(old, new):
    """`new`, with the derivatives of `old`."""
    (out,) = _core.custom_jvp_call(
        "moving_as",
        lambda values: [[values[1]]],
        lambda values: ([values[1]], [values[2]]),
        "rule",
        True,  # no tangent of `old` is none of the result
        [old, new],
    )
    return out


class _NotHere:
    """Stands for a reference that a backward rule cannot reach."""

    def __init__(self, aval):
        self.aval = aval
        self._value = None

    def _refuse(self, *_):
        raise NotImplementedError(
            "custom_vjp: the backward rule of a function that is staged reads or writes a mutable "
            f"array reference of type {self.aval}. It can reach those of real or complex numbers."
        )

    __getitem__ = __setitem__ = _read = _write = addupdate = _refuse


class _JvpForm(_Form):
    def outcome(self):
        function = type(self.owner)(self.function)
        function.__name__ = _name(self.owner.fun)
        function.defjvp(self.rule)
        out, after = function._call((self.args, self.held))
        self.write(after)
        return out

    def function(self, args, held):
        out, after, _ = self.run(self.owner.fun, args, held)
        return no_refs(out, self.owner.fun, "custom_jvp"), after

    def rule(self, primals, tangents):
        def jvp(*args):
            args = tuple(x for n, x in enumerate(args) if n not in self.nondiff)
            return self.owner.jvp(*self.nondiff.values(), args, tangents[0])

        (out, tangent), after, _ = self.run(jvp, *primals)
        return (out, after), (tangent, [zero_from_primal(x) for x in after])
