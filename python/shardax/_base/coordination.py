# shardax/_base/coordination.py - texts by key and barriers for processes, as of JAX's coordination
# service: for libraries that agree on something outside of programs, from any thread.
#
# Process 0 keeps them. A request is a connection of its own: a line of JSON each way. Both sides
# first show that they know the key that MPI has told all processes.
import base64
import contextlib
import json
import secrets
import socket
import threading
import time
import types

import shardax._core as _core
from shardax.errors import JaxRuntimeError

# The attributes of JAX's jax._src.distributed.global_state.
global_state = types.SimpleNamespace(
    client=None, coordinator_address=None, num_processes=1, process_id=0, service=None
)


def start(is_one_machine):
    """Starts the service in process 0 and connects this process to it; called by all at once."""
    from multiprocessing.connection import Listener  # only where there are several processes

    key = secrets.token_bytes(16)
    host, port = "127.0.0.1" if is_one_machine else socket.gethostname(), None
    if _core.process_index() == 0:
        listener = Listener(("127.0.0.1" if is_one_machine else "", 0), backlog=64, authkey=key)
        port = listener.address[1]
        global_state.service = _Service(listener, _core.process_count())
    sent = json.dumps([host, port, key.hex()]).encode()
    host, port, key = json.loads(_core.gather_bytes(sent, "coordination service")[0])
    global_state.client = Client((host, port), bytes.fromhex(key))
    global_state.coordinator_address = f"{host}:{port}"
    global_state.num_processes = _core.process_count()
    global_state.process_id = _core.process_index()


class Client:
    """Requests to the service. Times are in milliseconds; one that is over is a JaxRuntimeError."""

    def __init__(self, address, key):
        self._address = address
        self._key = key

    def _ask(self, what, **request):
        from multiprocessing.connection import Client as connect

        with connect(self._address, authkey=self._key) as connection:
            connection.send_bytes(json.dumps([what, request]).encode())
            error, answer = json.loads(connection.recv_bytes())
        if error is not None:
            raise JaxRuntimeError(error)
        return answer

    def key_value_set_bytes(self, key, value, allow_overwrite=False):
        text = base64.b64encode(value).decode()
        self._ask("set", key=key, value=text, allow_overwrite=allow_overwrite)

    def key_value_set(self, key, value, allow_overwrite=False):
        self.key_value_set_bytes(key, value.encode(), allow_overwrite)

    def blocking_key_value_get_bytes(self, key, timeout_in_ms):
        return base64.b64decode(self._ask("get", key=key, milliseconds=timeout_in_ms))

    def blocking_key_value_get(self, key, timeout_in_ms):
        return self.blocking_key_value_get_bytes(key, timeout_in_ms).decode()

    def key_value_try_get_bytes(self, key):
        return base64.b64decode(self._ask("get", key=key, milliseconds=None))

    def key_value_try_get(self, key):
        return self.key_value_try_get_bytes(key).decode()

    def key_value_dir_get_bytes(self, key):
        return [(name, base64.b64decode(text)) for name, text in self._ask("list", key=key)]

    def key_value_dir_get(self, key):
        """[(key, text), ...] of the keys below a key."""
        return [(name, value.decode()) for name, value in self.key_value_dir_get_bytes(key)]

    def key_value_delete(self, key):
        """Deletes a key, and those below it."""
        self._ask("delete", key=key)

    def key_value_increment(self, key, increment):
        """Adds to a number, which is 0 at first; gives the sum."""
        return self._ask("increment", key=key, by=increment)

    def wait_at_barrier(self, barrier_id, timeout_in_ms, process_ids=None):
        """Waits until the processes, by default all, are at the barrier of that name."""
        own = _core.process_index()
        ids = None if process_ids is None else sorted(process_ids)
        self._ask("barrier", name=barrier_id, process=own, ids=ids, milliseconds=timeout_in_ms)

    def get_live_nodes(self, process_ids):
        """The processes that are alive, which are all, as they end together, and from which start
        of theirs on."""
        return dict.fromkeys(process_ids, 0)


class _Service:
    """The state of process 0, with a thread for each request that is being answered."""

    def __init__(self, listener, process_count):
        self._process_count = process_count
        self._values = {}  # key: text
        self._barriers = {}  # name: the processes that are there
        self._changed = threading.Condition()
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener):
        from multiprocessing import AuthenticationError

        while True:
            # A client that does not know the key, or goes away, gets no answer.
            with contextlib.suppress(OSError, EOFError, AuthenticationError):
                connection = listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with contextlib.suppress(OSError, EOFError), connection:
            what, request = json.loads(connection.recv_bytes())
            try:
                with self._changed:
                    answer = None, getattr(self, f"_on_{what}")(**request)
            except _Refused as error:
                answer = str(error), None
            connection.send_bytes(json.dumps(answer).encode())

    def _wait(self, condition, milliseconds, text):
        end = time.monotonic() + milliseconds / 1000
        if not self._changed.wait_for(condition, max(0, end - time.monotonic())):
            raise _Refused(f"DEADLINE_EXCEEDED: {text()}")

    def _on_set(self, key, value, allow_overwrite):
        if key in self._values and not allow_overwrite:
            raise _Refused(f"ALREADY_EXISTS: Config key {key} already exists.")
        self._values[key] = value
        self._changed.notify_all()

    def _on_get(self, key, milliseconds):
        if milliseconds is not None:
            text = f"GetKeyValue() timed out with key: {key} and duration: {milliseconds}ms"
            self._wait(lambda: key in self._values, milliseconds, lambda: text)
        elif key not in self._values:
            raise _Refused(f"NOT_FOUND: Config key {key} not found.")
        return self._values[key]

    def _on_list(self, key):
        below = key.rstrip("/") + "/"
        return sorted(item for item in self._values.items() if item[0].startswith(below))

    def _on_delete(self, key):
        below = key.rstrip("/") + "/"
        for name in list(self._values):
            if name == key or name.startswith(below):
                del self._values[name]

    def _on_increment(self, key, by):
        number = int(base64.b64decode(self._values.get(key, ""))) if key in self._values else 0
        self._values[key] = base64.b64encode(str(number + by).encode()).decode()
        self._changed.notify_all()
        return number + by

    def _on_barrier(self, name, process, ids, milliseconds):
        wanted = set(range(self._process_count) if ids is None else ids)
        if process not in wanted:
            raise _Refused(
                f"INVALID_ARGUMENT: Process {process} waits at barrier {name}, which is for "
                f"{sorted(wanted)}."
            )
        arrived = self._barriers.setdefault(name, set())
        arrived.add(process)
        if arrived >= wanted:
            del self._barriers[name]  # the next to come are at a barrier of their own
            self._changed.notify_all()
            return

        def text():
            arrived.discard(process)
            missing = sorted(wanted - arrived - {process})
            return (
                f"Barrier timed out. Id: {name}. # of tasks that reached the barrier: "
                f"{len(arrived) + 1}/{len(wanted)}. Missing: {missing}."
            )

        self._wait(lambda: arrived >= wanted, milliseconds, text)


class _Refused(Exception):
    """An answer that is an error of the client's."""
