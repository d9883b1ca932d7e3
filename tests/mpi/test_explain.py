"""tests/mpi/test_explain.py - explain in several processes."""


def test_explain_is_refused_in_several_processes(start):
    ended = start(
        """
        import numpy as np, shardax
        from shardax import lax
        try:
            shardax.explain(shardax.pmap(lambda v: lax.psum(v, "i"), "i"))(np.ones((2, 3)))
        except NotImplementedError as error:
            if shardax.process_index() == 0:
                print(error)
        """
    )
    assert ended.out.startswith("explain: it tells of programs of one process."), ended.err
