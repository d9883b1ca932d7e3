"""Written by python/stubs.py."""


from shardax.extend import backend as backend
from shardax.extend import core as core
from shardax.extend import ifrt_programs as ifrt_programs
from shardax.extend import linear_util as linear_util
from shardax.extend import random as random
from shardax.extend import source_info_util as source_info_util
