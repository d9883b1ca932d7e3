"""shardax.numpy: functions of one element at a time."""
