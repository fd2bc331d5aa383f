#!/usr/bin/env bash
# Runs MCP clients that we did not write against glass --mcp: the official SDKs of Python and TypeScript.
#
#   run.sh PROGRAMS WORK     PROGRAMS: the build directory; WORK: where the clients are installed
#
# They come from PyPI and npm. Where a registry, python3 or node is out of reach, that client is left out, and it is
# said why. A client that is there and fails, fails the run.
set -euo pipefail

programs=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

# A home of its own: the daemon of the person who runs this is left alone.
home=$(mktemp -d)
mkdir -m 700 "$home/run" "$home/state" "$home/config"
export HOME="$home" XDG_RUNTIME_DIR="$home/run" XDG_STATE_HOME="$home/state" XDG_CONFIG_HOME="$home/config"
trap '"$programs/glassctl" daemon stop >/dev/null 2>&1 || true; rm -rf "$home"' EXIT

left_out() { printf 'left out: %s: %s\n' "$1" "$2"; }

python_client() {
    command -v python3 >/dev/null || { left_out python 'no python3'; return; }
    local venv="$work/python"
    if ! cmp -s "$here/requirements.txt" "$venv/installed"; then
        if ! python3 -m venv "$venv" >/dev/null 2>&1; then left_out python 'python3 has no venv'; return; fi
        if ! "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt" 2>"$work/pip.log"; then
            left_out python "PyPI is out of reach or has no such version ($work/pip.log)"
            return
        fi
        cp "$here/requirements.txt" "$venv/installed"
    fi
    for mode in legacy auto; do
        timeout 300 "$venv/bin/python" "$here/agent.py" "$programs/glass" "$mode"
    done
}

typescript_client() {
    command -v npm >/dev/null || { left_out typescript 'no npm'; return; }
    local major
    major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
    [ "$major" -ge 20 ] || { left_out typescript "node $major; 20 is needed"; return; }
    local modules="$work/typescript"
    mkdir -p "$modules"
    if ! cmp -s "$here/package.json" "$modules/installed"; then
        cp "$here/package.json" "$modules/"
        if ! npm install --prefix "$modules" --no-audit --no-fund --ignore-scripts --silent >"$work/npm.log" 2>&1; then
            left_out typescript "npm is out of reach or has no such version ($work/npm.log)"
            return
        fi
        cp "$here/package.json" "$modules/installed"
    fi
    cp "$here/smoke.mjs" "$modules/"
    (cd "$modules" && timeout 300 node smoke.mjs "$programs/glass")
}

python_client
typescript_client
