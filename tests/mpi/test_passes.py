"""tests/mpi/test_passes.py - passes that act in several processes: messages.txt."""

import pathlib

COMPILE = pathlib.Path(__file__).resolve().parents[1] / "compile"


def test_passes_over_messages(start):
    ended = start(
        f"""
        import sys
        sys.path.insert(0, {str(COMPILE)!r})
        from shardax import _core
        from test_passes import ALL_CASES, OF_PROCESSES, normal

        cases = [case for case in ALL_CASES if case.file == OF_PROCESSES.name]
        for case in cases:
            result = case.result()
            if case.makes_plan:
                expected = case.after
                result = result.replace("native ", "").strip()
            else:
                expected = normal(case.after if case.changes else case.before)
            if result != expected:
                print(case.id, result)
        if _core.process_index() == 0:
            print(len(cases), "cases")
        """
    )
    assert ended.code == 0 and ended.out == "8 cases\n", ended.out + ended.err
