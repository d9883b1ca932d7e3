"""shardax/_base - what every layer stands on: arrays and checks of them, dtypes, flags, texts of
errors."""
