#!/usr/bin/env bash
# Builds glass.mcpb: the programs with manifest.json, as clients with a window install them.
#
#   build-bundle.sh PROGRAMS OUT     PROGRAMS: the directory of a release build, such as target/release
#
# Needs python3 (its zip writer keeps the permission to execute). Chromium is not in it: glassctl doctor finds it.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: ${0##*/} PROGRAMS OUT" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)

python3 - "$here/manifest.json" "$1" "$2" <<'PY'
import os
import sys
import zipfile

manifest, programs, out = sys.argv[1:]
names = ["glass", "glassctl", "glassd", "glass-egress", "glass-worker"]
missing = [name for name in names if not os.path.isfile(os.path.join(programs, name))]
if missing:
    sys.exit(f"error: not in {programs}: {', '.join(missing)}\nhint: cargo build --release")
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
    bundle.write(manifest, "manifest.json")
    for name in names:
        # ZipFile.write keeps the file's mode.
        bundle.write(os.path.join(programs, name), f"server/{name}")
print(f"wrote {out}")
PY
