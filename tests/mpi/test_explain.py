"""tests/mpi/test_explain.py - explain in several processes: messages, and what they waited for."""

PMAPPED = """
import time
import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import lax

me, n = shardax.process_index(), shardax.local_device_count()


def step(w, x):
    loss, g = shardax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * lax.pmean(g, "i"), lax.pmean(loss, "i")


mapped = shardax.pmap(step, "i", in_axes=(None, 0), out_axes=None)
w, x = np.ones(3, np.float32), np.arange(n * 48, dtype=np.float32).reshape(n, 16, 3) + me
told = shardax.explain(mapped)(w, x)
[message] = told.messages
assert (message["op"], message["processes"], message["bytes"]) == ("all_reduce", 2, 16), message
assert message["line"]["line"] == 13 and message["times"] == 1, message
assert message["waited"] is None and message["under_way"] is None, message
for collective in told.collectives:
    assert collective["over"] == ["i"] and collective["participants"] == 2 * n, collective
    assert collective["became"] == "message", collective
mapped(w, x)
if me == 1:
    time.sleep(0.3)
mapped(w, x)
[message] = shardax.explain(mapped)(w, x).messages
assert (message["waited"] > 0.2) == (me == 0), message
assert message["waited"] <= message["under_way"], message
text = str(shardax.explain(mapped)(w, x))
assert "1 message to other processes, 16 B a call. In the last call" in text, text
assert "nothing of which crosses a network" not in text, text
assert "Messages to other processes" in shardax.explain(mapped)(w, x)._repr_html_()
assert shardax.explain(mapped)(w, x).to_dict()["messages"] == [message]
"""


def test_messages_of_a_mapped_function(start):
    ended = start(PMAPPED)
    assert ended.code == 0, ended.err


def test_messages_of_loops_and_those_under_way(start):
    ended = start(
        """
        import numpy as np, shardax, shardax.numpy as jnp
        from shardax import lax
        n, total = shardax.local_device_count(), shardax.device_count()

        def f(x, y):
            far = lax.ppermute(x, "i", [(i, (i + 1) % total) for i in range(total)])
            y = lax.fori_loop(0, 7, lambda _, v: lax.pmean(v, "i") + 1, jnp.sin(y @ y))
            return far + y

        x = np.ones((n, 4, 4), np.float32)
        f = shardax.pmap(f, "i")
        f(x, x)
        permute, mean = shardax.explain(f)(x, x).messages
        assert (permute["op"], permute["bytes"], permute["times"]) == ("permute", 64, 1), permute
        assert permute["meanwhile"] >= 2, permute
        assert (mean["op"], mean["times"], mean["bytes"]) == ("all_reduce", 7, 64), mean
        assert mean["waited"] > 0 and permute["under_way"] > permute["waited"], permute
        """
    )
    assert ended.code == 0, ended.err


def test_messages_of_a_program_over_global_arrays(start):
    ended = start(
        """
        import numpy as np, shardax, shardax.numpy as jnp
        from shardax.sharding import NamedSharding, PartitionSpec as P
        total = shardax.device_count()
        mesh = shardax.make_mesh((total,), ("x",))
        x = shardax.device_put(np.ones((total, 4), np.float32), NamedSharding(mesh, P("x")))
        f = shardax.jit(lambda x: (x * 2).sum(0))
        f(x)
        told = shardax.explain(f)(x)
        [message] = told.messages
        assert (message["op"], message["bytes"], message["processes"]) == ("all_reduce", 16, 2)
        assert message["waited"] is not None, message
        str(told), told._repr_html_()
        """
    )
    assert ended.code == 0, ended.err


def test_one_process_sends_none():
    import shardax
    import shardax.numpy as jnp
    from shardax import lax

    told = shardax.explain(shardax.pmap(lambda x: lax.psum(x, "i"), "i"))(jnp.ones((4, 2)))
    assert told.messages == [] and "Messages" not in str(told)
