"""shardax/_base/function_names.py - the names that transformed functions have."""

import functools


def function_name(fun, attribute="__name__"):
    """The name of a callable, or of the function in a partial; JAX's text for those without."""
    while (name := getattr(fun, attribute, None)) is None and isinstance(fun, functools.partial):
        fun = fun.func
    return "<unnamed function>" if name is None else name


def named_like(fun, doc=None):
    """functools.wraps(fun), where `fun` may have no name; `doc` is a text in which {fun} is it."""

    def decorated(wrapper):
        functools.update_wrapper(wrapper, fun)
        for attribute in ("__name__", "__qualname__"):
            setattr(wrapper, attribute, function_name(fun, attribute))
        if doc:
            wrapper.__doc__ = doc.format(fun=wrapper.__name__)
        return wrapper

    return decorated
