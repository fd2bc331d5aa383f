#!/usr/bin/env bash
# Installs what Glass needs and this machine lacks. Touches nothing that is there already.
#
#   install-deps.sh run     what building and running needs
#   install-deps.sh test    the same, and what the tests need
#
# Needs root (or sudo) only when something is missing. Never reads standard input.
set -euo pipefail
exec </dev/null

case "${1-}" in
run | test) purpose=$1 ;;
*)
    echo "usage: ${0##*/} run|test" >&2
    exit 2
    ;;
esac

rust_wanted=1.95

fail() {
    printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Where glass-worker looks for a browser when the configuration names none (worker/src/chromium/find.rs), without the
# wrappers in /usr/bin: on Ubuntu they lead to a snap, which cannot be caged.
has_browser() {
    local path
    for path in /usr/lib/chromium/chromium /usr/lib64/chromium-browser/chromium-browser \
        /usr/lib/chromium-browser/chromium-browser /opt/google/chrome/chrome /opt/chromium.org/chromium/chromium; do
        [ -x "$path" ] && return 0
    done
    return 1
}

# A page without any font has text of no size.
has_font() {
    local found
    found=$(find /usr/share/fonts /usr/local/share/fonts -name '*.[to]tf' -print -quit 2>/dev/null || true)
    [ -n "$found" ]
}

check_rust() {
    has cargo || fail "there is no cargo on PATH" "install Rust $rust_wanted or newer with rustup, then run this again"
    local version
    version=$(rustc --version | awk '{print $2}')
    if [ "$(printf '%s\n%s\n' "$rust_wanted" "${version%%-*}" | sort -V | head -n1)" != "$rust_wanted" ]; then
        fail "Rust $version is too old, $rust_wanted is needed" "rustup update stable"
    fi
    [ "$purpose" = test ] || return 0
    local component
    for component in fmt clippy; do
        cargo "$component" --version >/dev/null 2>&1 && continue
        has rustup || fail "cargo $component is missing" "install the rustfmt and clippy that belong to Rust $version"
        rustup component add rustfmt clippy
        return 0
    done
}

missing=()
has_browser || missing+=(chromium)
has_font || missing+=(fonts-liberation)
has cc || missing+=(gcc libc6-dev)
has setpriv || missing+=(util-linux)
if [ "$purpose" = test ]; then
    has make || missing+=(make)
    has ps || missing+=(procps)
fi

if [ ${#missing[@]} -gt 0 ]; then
    echo "installing what is missing: ${missing[*]}"
    has apt-get || fail "${missing[*]} must be installed, and this machine has no apt-get" \
        "install them with this system's package manager; Chrome at /opt/google/chrome serves as well as chromium"
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        has sudo || fail "${missing[*]} must be installed, and neither root nor sudo is at hand" \
            "as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "${missing[@]}"
    has_browser || fail "there is still no Chromium at /usr/lib/chromium or Chrome at /opt/google/chrome" \
        "install Google Chrome from its .deb, or name a browser in the configuration (docs/runbook.md)"
fi

check_rust
