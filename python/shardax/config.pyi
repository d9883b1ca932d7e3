"""Written by python/stubs.py."""

from typing import Any

def update(name: str, value: Any) -> None:
    """Sets a flag; AttributeError for unknown ones."""
def read(name: str) -> Any:
    """The value of a flag; AttributeError for unknown ones."""
def parse_flags_with_absl() -> None:
    """Sets the flags that the command line gives as `--jax_name=value`."""

values: dict[str, Any]
x64_enabled: bool
omnistaging_enabled: bool
FLAGS: Any
config: Any

def __getattr__(name: str) -> Any: ...
