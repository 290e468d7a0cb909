# Sourced by the other scripts: creates .venv in the checkout, once, from the hashed lock.
# Does not change the working directory, and prints nothing if everything is in place.

unset PYTHONDONTWRITEBYTECODE # with it, every process would compile all its imports

setup_fail() {
    echo "${0##*/}: $1" >&2
    exit 2
}

setup_python() { # prints the first suitable interpreter, or fails with a line that says what is missing
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

# uv takes seconds where pip takes minutes: use the machine's own, or install it into the environment with pip.
setup_uv() { # $1: an environment; prints the program to call, which is `false` if there is no uv
    command -v uv && return
    "$1/bin/python" -m pip install -qq --disable-pip-version-check --require-hashes \
        -r "$root/requirements/installer.lock" >/dev/null 2>&1 && echo "$1/bin/uv" || echo false
}

# The lock is complete, so nothing is resolved (--no-deps): older pips ask for the newest release of a package with
# extras, whatever is pinned, and refuse it for lack of a hash. If uv fails, pip tries again: perhaps only pip is
# configured with the right index, and pip's error is the one to show.
setup_install() { # $1: lock
    local env="$root/.venv" uv
    uv=$(setup_uv "$env")
    uv() { "$uv" pip install --quiet --link-mode copy --python "$env/bin/python" --no-deps "$@" 2>/dev/null; }
    pip() { "$env/bin/python" -m pip install -qq --disable-pip-version-check --no-deps "$@"; }
    { uv --require-hashes -r "$1" && uv -e "$root"; } || {
        "$env/bin/python" -m ensurepip >/dev/null 2>&1 || true # an environment created by uv has no pip
        pip --require-hashes -r "$1" && pip -e "$root"
    }
}

setup() { # $1: run or test; test.lock holds all of run.lock, so a test environment serves run too
    local lock="$root/requirements/$1.lock" stamp="$root/.venv/.aiq-$1" state python
    state=$(cat "$lock" "$root/pyproject.toml" | cksum)
    [ "$(cat "$stamp" 2>/dev/null)" = "$state" ] && return
    python=$(setup_python) || exit 2
    echo "${0##*/}: setting up $root/.venv (once; about a minute) ..." >&2
    if [ ! -x "$root/.venv/bin/python" ]; then
        if command -v uv >/dev/null 2>&1; then
            uv venv --quiet --python "$python" "$root/.venv" || setup_fail "uv could not create $root/.venv"
        else
            "$python" -c 'import ensurepip, venv' 2>/dev/null ||
                setup_fail "Python's venv module is missing; install it (Debian, Ubuntu: apt install python3-venv) or uv"
            "$python" -m venv "$root/.venv" || setup_fail "could not create $root/.venv"
        fi
    fi
    rm -f "$root"/.venv/.aiq-*
    (setup_install "$lock") ||
        setup_fail "installing $lock failed (see above); package installation needs the network once"
    echo "$state" >"$stamp"
    if [ "$1" = test ]; then cat "$root/requirements/run.lock" "$root/pyproject.toml" | cksum >"$root/.venv/.aiq-run"; fi
}
