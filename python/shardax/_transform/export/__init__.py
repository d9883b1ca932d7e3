"""shardax/_transform/export/__init__.py - programs as files, of fixed and symbolic sizes."""
