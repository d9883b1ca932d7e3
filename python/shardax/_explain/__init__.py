# shardax/_explain/__init__.py - what parallel programs do, told to people: see explanation.py.
