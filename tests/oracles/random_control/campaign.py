"""python -m tests.oracles.random_control.campaign FIRST LAST: compare with gcc, and count."""

from __future__ import annotations

import sys
import time
from collections import Counter

from rtlgen.errors import RtlgenError
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.random_control.programs import random_control


def main() -> int:
    first, last = map(int, sys.argv[1:3])
    found: Counter[str] = Counter()
    for seed in range(first, last):
        text, start = random_control(seed), time.process_time()
        try:
            assert_as_gcc(text, seed=seed, runs=3)
            found["as gcc"] += 1
        except RtlgenError as error:
            found[error.code] += 1
            print(f"{seed}: {error.code} {error.diagnostic.message}", flush=True)
        except AssertionError:
            found["WRONG"] += 1
            print(f"{seed}: WRONG\n{text}", flush=True)
        except Exception as error:
            found["TRACEBACK"] += 1
            print(f"{seed}: {type(error).__name__} {error}", flush=True)
        if time.process_time() - start > 20:
            print(f"{seed}: {time.process_time() - start:.0f} s", flush=True)
    print(dict(found))
    return int(bool(found["WRONG"] or found["TRACEBACK"]))


if __name__ == "__main__":
    raise SystemExit(main())
