# Sourced by scripts/run and scripts/test: makes .venv in the checkout, once, from the hashed lock.
# Changes no folder and prints nothing when everything is in place.

unset PYTHONDONTWRITEBYTECODE # it would have each process compile all that it imports

setup_fail() {
    echo "${0##*/}: $1" >&2
    exit 2
}

setup_python() { # the newest suitable interpreter, or a line that says what is missing
    local candidate found=""
    for candidate in "${AIQ_PYTHON:-}" python3.13 python3.12 python3.11 python3 python python3.14; do
        [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
        found=$("$candidate" -c 'import platform; print(platform.python_version())' 2>/dev/null || true)
    done
    setup_fail "Python 3.11 or newer is needed${found:+ (found $found)}; install it or name it in AIQ_PYTHON"
}

# The lock is complete, so nothing is resolved (--no-deps): older pips ask for the newest release of a package with
# extras, whatever is pinned, and refuse it for lack of a hash.
setup_install() { # $1: python, $2: lock, $3: "uv" or "pip"
    if [ "$3" = uv ]; then
        uv pip install --quiet --python "$root/.venv/bin/python" --no-deps --require-hashes -r "$2" &&
            uv pip install --quiet --python "$root/.venv/bin/python" --no-deps -e "$root"
    else
        "$root/.venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r "$2" &&
            "$root/.venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps -e "$root"
    fi
}

setup() { # $1: run or test; test.lock holds all of run.lock, so a test environment serves run too
    local lock="$root/requirements/$1.lock" stamp="$root/.venv/.aiq-$1" state python tool=pip
    state=$(cat "$lock" "$root/pyproject.toml" | cksum)
    [ "$(cat "$stamp" 2>/dev/null)" = "$state" ] && return
    python=$(setup_python) || exit 2
    command -v uv >/dev/null 2>&1 && tool=uv
    echo "${0##*/}: setting up $root/.venv with $tool (once; about a minute) ..." >&2
    if [ ! -x "$root/.venv/bin/python" ]; then
        if [ "$tool" = uv ]; then
            uv venv --quiet --python "$python" "$root/.venv" || setup_fail "uv could not make $root/.venv"
        else
            "$python" -c 'import ensurepip, venv' 2>/dev/null ||
                setup_fail "Python's venv module is missing; install it (Debian, Ubuntu: apt install python3-venv) or uv"
            "$python" -m venv "$root/.venv" || setup_fail "could not make $root/.venv"
        fi
    fi
    # an environment that uv made has no pip of its own
    [ "$tool" = pip ] && { "$root/.venv/bin/python" -m pip --version >/dev/null 2>&1 ||
        "$root/.venv/bin/python" -m ensurepip >/dev/null 2>&1 ||
        setup_fail "$root/.venv has no pip; delete the folder and run again"; }
    rm -f "$root"/.venv/.aiq-*
    setup_install "$python" "$lock" "$tool" ||
        setup_fail "installing $lock failed (see above); package installation needs the network once"
    echo "$state" >"$stamp"
    if [ "$1" = test ]; then cat "$root/requirements/run.lock" "$root/pyproject.toml" | cksum >"$root/.venv/.aiq-run"; fi
}
