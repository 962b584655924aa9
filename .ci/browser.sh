#!/bin/sh
# Install Chromium if it is missing and Debian's packages can be installed; otherwise say what to install. Never fails.
there() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}

there && exit 0
as_root=
[ "$(id -u)" = 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null 2>&1 && $as_root true 2>/dev/null; then
    echo "installing Chromium: the tests open pages in it"
    $as_root apt-get -qq update >/dev/null 2>&1
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
        chromium fonts-dejavu-core >/dev/null 2>&1
fi
there || echo "there is no Chromium on the PATH: tests of pages are skipped (Debian: apt-get install chromium)"
exit 0
