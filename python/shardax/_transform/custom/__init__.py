"""shardax/_transform/custom/__init__.py - custom rules: custom_jvp, custom_vjp, custom_vmap."""
