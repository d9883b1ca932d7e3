"""shardax/_debug/recordings.py - the times of programs, steps and annotations, as events.

One recording is made at a time, of all threads. Events are those of Chrome's trace format.
"""

import gzip
import json
import os
import pathlib
import threading

import shardax._core as _core
from shardax._base.forks import held_over_forks

_VERBS = {"tracing": "trace ", "compilation": "compile "}
_lock = held_over_forks(threading.RLock())
_annotations = None  # the events of the user's own spans, while something is recorded


def begin():
    """Records from now on.

    Raises:
      RuntimeError: something is being recorded already.
    """
    global _annotations
    with _lock:
        if _annotations is not None:
            raise RuntimeError(
                "Profile has already been started. Only one profile may be run at a time."
            )
        _annotations = []
    _core.start_recording()


def end():
    """Ends the recording: its events by the time at which they began, annotations among them, and
    how many programs and steps found no room."""
    global _annotations
    with _lock:
        events, _annotations = _annotations, None
    spans, dropped = _core.stop_recording()
    for name, start, duration, thread, kind, line in spans:
        event = {
            "name": _VERBS.get(kind, "") + name,
            "cat": kind,
            "ph": "X",
            "pid": os.getpid(),
            "tid": thread,
            "ts": start / 1000,
            "dur": duration / 1000,
        }
        events.append(event | {"args": {"line": line}} if line else event)
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    return events, dropped


def annotate(name, metadata, start, end):
    """Adds a span of the user's own, in nanoseconds, if something is being recorded."""
    with _lock:
        if _annotations is None:
            return
        _annotations.append(
            {
                "name": name,
                "cat": "annotation",
                "ph": "X",
                "pid": os.getpid(),
                "tid": threading.get_ident(),
                "ts": start / 1000,
                "dur": (end - start) / 1000,
                "args": metadata,
            }
        )


def make_folder(api, path):
    """The folder that `path` names, as a pathlib.Path; made where it does not exist."""
    folder = pathlib.Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise NotADirectoryError(
            f"{api}: {str(folder)!r} is a file, or below one; a folder was expected, which is made "
            "where it does not exist."
        ) from None
    return folder


def write(events, dropped, path):
    """Writes a Chrome trace; compressed where the name ends in .gz."""
    trace = {"traceEvents": events, "displayTimeUnit": "ms", "dropped": dropped}
    opened = gzip.open(path, "wt") if str(path).endswith(".gz") else open(path, "w")
    with opened as file:
        json.dump(trace, file, default=str)
