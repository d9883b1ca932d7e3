"""tests/mpi/test_joining.py - processes that join, and what they gather."""


def test_processes_gather_bytes_of_any_length(start):
    ended = start(
        """
        import shardax
        from shardax import _core

        me, count = _core.process_index(), _core.process_count()
        shardax.distributed.initialize(num_processes=count, process_id=me)
        for length in (0, 1, 100_000):
            own = bytes([me]) * (length * me)
            assert _core.gather_bytes(own, "step") == [bytes([p]) * (length * p) for p in range(3)]
        _core.barrier("end")
        if me == 0:
            print(count)
        """,
        count=3,
    )
    assert (ended.code, ended.out) == (0, "3\n"), ended.err


def test_an_uneven_number_of_processes_is_refused(start):
    ended = start(
        """
        import shardax
        try:
            shardax.distributed.initialize(num_processes=3)
        except ValueError as error:
            text = str(error)
        if shardax._core.process_index() == 0:
            print(text)
        """
    )
    assert ended.out.startswith(
        "distributed.initialize: num_processes is 3, but the number of processes is 2; "
    ), ended.err
