#!/bin/sh
# Make .venv from a lock file and install this checkout into it. The Makefile calls it when the
# stamp is not there:  setup.sh LOCKFILE STAMP
set -eu
lock=$1
stamp=$2

fail() {
    printf 'set-up: %s\n' "$1" >&2
    exit 3
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

python=$(find_python)
[ -n "$python" ] || fail 'needs Python 3.11 or newer; name one with PYTHON=/path/to/python3'
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python has no venv module: apt-get install python3-venv, or name another with PYTHON="
command -v g++ >/dev/null ||
    fail 'needs a C++ compiler for the simulation: apt-get install g++'

# An environment of a Python that has gone, or of a checkout that was moved, does not start.
.venv/bin/python -c 'import pip' 2>/dev/null || rm -rf .venv
[ -d .venv ] || "$python" -m venv .venv
# The shebangs of a moved environment point to its old place.
[ "$(.venv/bin/python -c 'import sys; print(sys.prefix)')" = "$(pwd -P)/.venv" ] ||
    "$python" -m venv --clear .venv

echo "set-up: installing $lock into .venv (once; some hundred MB) ..."
pip='.venv/bin/python -m pip --quiet --disable-pip-version-check'
# Python compiles what is imported: of all that is installed that is little.
$pip install --no-compile --require-hashes -r "$lock"
$pip install --no-deps --no-build-isolation --editable .
echo 'set-up: preparing Verilator ...'
.venv/bin/python -m rtlgen.sim.verilator
touch "$stamp"
