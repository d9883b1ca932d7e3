"""Written by python/stubs.py."""

from typing import Any



DivisionByZeroError: Any
Error: Any
ErrorCategory: Any
FailedCheckError: Any
JaxException: Any
JaxRuntimeError: Any
NaNError: Any
OOBError: Any
all_checks: Any
automatic_checks: Any
def check(pred: Any, msg: Any, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> Any:
    """Fails with msg.format(*fmt_args, **fmt_kwargs) where pred does not hold."""
def check_error(error: Any) -> Any:
    """Raises the error of `error.throw()`, as a check that an enclosing checkify turns into its error."""
def checkify(f: Any, errors: Any = ...) -> Any:
    """`f` with its checks as a value: a function that returns (error, f's result)."""
def debug_check(pred: Any, msg: Any, *fmt_args: Any, **fmt_kwargs: Any) -> Any:
    """A `check` that is made under checkify only, and else does nothing."""
div_checks: Any
float_checks: Any
index_checks: Any
init_error: Any
nan_checks: Any
user_checks: Any
