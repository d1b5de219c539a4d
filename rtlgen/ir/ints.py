"""Arrays of 64-bit integers, points, ranks, times, addresses, and masks of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
