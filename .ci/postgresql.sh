#!/bin/sh
# Install PostgreSQL if it is missing and Debian's packages can be installed; otherwise say what to install. Never fails.
there() {
    command -v initdb >/dev/null 2>&1 && return 0
    ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

there && exit 0
as_root=
[ "$(id -u)" = 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null 2>&1 && $as_root true 2>/dev/null; then
    echo "installing PostgreSQL: the tests of services start one"
    $as_root apt-get -qq update >/dev/null 2>&1
    # The package would start a server of its own, which nobody needs.
    $as_root mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" | $as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends postgresql >/dev/null 2>&1
fi
there || echo "there is no PostgreSQL: its tests are skipped (Debian: apt-get install postgresql)"
exit 0
