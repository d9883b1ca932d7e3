"""shardax/_transform - functions of functions: jit, pmap, vmap, derivatives, custom rules,
checkpoints, callbacks."""
