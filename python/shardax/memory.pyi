"""Written by python/stubs.py."""


from shardax._devices.memory_kinds import Space as Space
