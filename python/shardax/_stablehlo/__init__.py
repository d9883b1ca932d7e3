"""shardax._stablehlo - programs in the words of other compilers: StableHLO and HLO."""
