"""tests/ecosystem/data.py - the data that the programs fit: eight rows and a linear target."""

import numpy as np

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
Y = np.float32(X @ [1.0, -2.0, 0.5])[:, None]
