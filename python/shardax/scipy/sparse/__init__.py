"""shardax.scipy.sparse - systems of equations given by functions."""

from shardax.scipy.sparse import linalg
