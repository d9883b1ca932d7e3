"""shardax._text - programs in the words of other compilers: StableHLO and HLO."""
