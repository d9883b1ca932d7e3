# shardax/_explain/__init__.py - explanations of parallel programs: see explanation.py.
