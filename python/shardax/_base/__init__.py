"""shardax/_base - arrays and checks of them, dtypes, flags and texts of errors, for every layer."""
