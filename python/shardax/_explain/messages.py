"""shardax/_explain/messages.py - times of collectives over links of one latency and bandwidth.

The model is R. Hockney's: a message of n bytes takes alpha + n beta; adding up n bytes takes n
gamma. The formulas are those of R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
Communication Operations in MPICH", Int. J. High Performance Computing Applications 19 (1), 2005,
with p processes. As there, logarithms are to base 2; for p that is no power of two they are rounded
up.
"""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Link:
    """Seconds to start a message, for each of its bytes, and to add up a byte.

    >>> Link(alpha=1.0, beta=0.5).message(8)
    5.0
    """

    alpha: float
    beta: float
    gamma: float = 0.0

    def message(self, n):
        """One message: alpha + n beta."""
        return self.alpha + n * self.beta

    # ---- all-gather, section 4.1: n bytes in all ----------------------------------------------

    def all_gather_ring(self, p, n):
        """(p - 1) alpha + (p - 1)/p n beta."""
        return (p - 1) * self.alpha + (p - 1) / p * n * self.beta

    def all_gather_recursive_doubling(self, p, n):
        """lg p alpha + (p - 1)/p n beta."""
        return _lg(p) * self.alpha + (p - 1) / p * n * self.beta

    def all_gather(self, p, n):
        """The quickest where all processes reach each other."""
        return min(self.all_gather_ring(p, n), self.all_gather_recursive_doubling(p, n))

    # ---- broadcast, section 4.2 ---------------------------------------------------------------

    def broadcast_binomial(self, p, n):
        """Binomial tree: lg p (alpha + n beta)."""
        return _lg(p) * (self.alpha + n * self.beta)

    def broadcast_scatter_all_gather(self, p, n):
        """Scatter, then all-gather in a ring: (lg p + p - 1) alpha + 2 (p - 1)/p n beta."""
        return (_lg(p) + p - 1) * self.alpha + 2 * (p - 1) / p * n * self.beta

    def broadcast(self, p, n):
        """The quickest."""
        return min(self.broadcast_binomial(p, n), self.broadcast_scatter_all_gather(p, n))

    # ---- all-to-all, section 4.3: n bytes that each process sends -----------------------------

    def all_to_all_bruck(self, p, n):
        """Bruck's: lg p alpha + n/2 lg p beta."""
        return _lg(p) * (self.alpha + n / 2 * self.beta)

    def all_to_all_pairwise(self, p, n):
        """Pairwise exchange: (p - 1) alpha + n beta."""
        return (p - 1) * self.alpha + n * self.beta

    def all_to_all(self, p, n):
        """The quickest where all processes reach each other."""
        return min(self.all_to_all_bruck(p, n), self.all_to_all_pairwise(p, n))

    # ---- reduce-scatter, section 4.4: n bytes that each process has ---------------------------

    def reduce_scatter_ring(self, p, n):
        """Pairwise exchange, and around a ring: (p - 1) alpha + (p - 1)/p n (beta + gamma)."""
        return (p - 1) * self.alpha + (p - 1) / p * n * (self.beta + self.gamma)

    def reduce_scatter_recursive_halving(self, p, n):
        """lg p alpha + (p - 1)/p n (beta + gamma)."""
        return _lg(p) * self.alpha + (p - 1) / p * n * (self.beta + self.gamma)

    def reduce_scatter(self, p, n):
        """The quickest where all processes reach each other."""
        return min(self.reduce_scatter_ring(p, n), self.reduce_scatter_recursive_halving(p, n))

    # ---- all-reduce, section 4.5 --------------------------------------------------------------

    def all_reduce_recursive_doubling(self, p, n):
        """lg p (alpha + n beta + n gamma)."""
        return _lg(p) * (self.alpha + n * (self.beta + self.gamma))

    def all_reduce_rabenseifner(self, p, n):
        """Recursive halving, then doubling:
        2 lg p alpha + 2 (p - 1)/p n beta + (p - 1)/p n gamma."""
        return 2 * _lg(p) * self.alpha + (p - 1) / p * n * (2 * self.beta + self.gamma)

    def all_reduce_ring(self, p, n):
        """Reduce-scatter and all-gather in a ring:
        2 (p - 1) alpha + 2 (p - 1)/p n beta + (p - 1)/p n gamma."""
        return self.reduce_scatter_ring(p, n) + self.all_gather_ring(p, n)

    def all_reduce(self, p, n):
        """The quickest where all processes reach each other."""
        return min(
            self.all_reduce_recursive_doubling(p, n),
            self.all_reduce_rabenseifner(p, n),
            self.all_reduce_ring(p, n),
        )


def all_to_all_ring(link, p, n):
    """All-to-all if each process reaches two neighbours only. The n/p bytes for another take as
    many hops as it is away, floor(p^2/4) together. Each link carries half of them: floor(p/2) alpha
    + floor(p^2/4) n/(2 p) beta."""
    if p < 2:
        return 0.0
    share = n / p * (p * p // 4)
    return (p // 2) * link.alpha + (share if p == 2 else share / 2) * link.beta


def _lg(p):
    return math.ceil(math.log2(p))
