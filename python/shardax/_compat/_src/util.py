"""shardax._src.util - map, zip and unzip that check lengths, for interpreters of programs."""

import functools


def safe_map(f, *args):
    """[f(*items) for items in zip(*args)] of lists of one length.

    Raises:
      ValueError: the lengths differ.

    Example:
      >>> safe_map(max, [1, 5], [3, 2])
      [3, 5]
    """
    return [f(*items) for items in safe_zip(*args)]


def safe_zip(*args):
    """The items of lists of one length, as a list of tuples.

    Raises:
      ValueError: the lengths differ.

    Example:
      >>> safe_zip([1, 2], "ab")
      [(1, 'a'), (2, 'b')]
    """
    lists = [list(arg) for arg in args]
    if len({len(items) for items in lists}) > 1:
        raise ValueError(f"safe_zip: lengths differ: {[len(items) for items in lists]}.")
    return list(zip(*lists))


def unzip2(pairs):
    """The first items of pairs, and the second ones, as tuples.

    Example:
      >>> unzip2([(1, "a"), (2, "b")])
      ((1, 2), ('a', 'b'))
    """
    pairs = list(pairs)
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


class HashablePartial(functools.partial):
    """A functools.partial that is equal to another of equal parts.

    Example:
      >>> HashablePartial(max, 1) == HashablePartial(max, 1)
      True
    """

    def _parts(self):
        return self.func, self.args, tuple(sorted(self.keywords.items()))

    def __eq__(self, other):
        return isinstance(other, HashablePartial) and self._parts() == other._parts()

    def __hash__(self):
        return hash(self._parts())
