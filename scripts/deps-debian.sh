#!/bin/sh
# Install the Debian packages that a target of the Makefile needs.
#
#   scripts/deps-debian.sh build|test|lint
#
# Packages that are already there are not touched, and nothing is asked of
# the network when none is missing.
set -eu

build="meson ninja-build pkg-config gcc libc6-dev libxxhash-dev libzstd-dev zlib1g-dev
       libsqlite3-dev libpq-dev libmariadb-dev unixodbc-dev libmicrohttpd-dev"
test="libcmocka-dev bats cadical libcadical-dev mandoc zstd jq postgresql mariadb-server galera-4
      rsync nftables chromium nodejs npm libxml2-utils python3 python3-dev redis-server libsqliteodbc"
lint="clang clang-format clang-tidy libclang-rt-14-dev"

case "${1:-}" in
build) wanted=$build ;;
test) wanted="$build $test" ;;
lint) wanted="$build $test $lint" ;;
*) echo "usage: $0 build|test|lint" >&2; exit 3 ;;
esac

# Elsewhere than on Debian: what is missing, and only when it is missing.
if ! command -v dpkg-query >/dev/null; then
    missing=""
    for tool in meson ninja pkg-config cc; do
        command -v $tool >/dev/null || missing="$missing $tool"
    done
    for library in zlib libzstd libxxhash; do
        pkg-config --exists $library 2>/dev/null || missing="$missing $library"
    done
    if [ "$1" != build ]; then
        pkg-config --exists cmocka 2>/dev/null || missing="$missing cmocka"
        for tool in bats jq; do
            command -v $tool >/dev/null || missing="$missing $tool"
        done
    fi
    [ -n "$missing" ] || exit 0
    echo "there is no dpkg here: install these with the package manager of your system:$missing" >&2
    exit 3
fi

missing=""
for package in $wanted; do
    state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    case "$state" in
    "install ok installed") ;;
    *)
        # A tool that came from elsewhere is as good as the package.
        case "$package" in
        nodejs) command -v node >/dev/null && continue ;;
        npm) command -v npm >/dev/null && continue ;;
        python3) command -v python3 >/dev/null && continue ;;
        python3-dev)
            include=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null || true)
            [ -n "$include" ] && [ -e "$include/Python.h" ] && continue ;;
        esac
        missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || {
        echo "these packages are missing and only root can install them:$missing" >&2
        exit 3
    }
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# A package's own server must not start with the machine: ours run in
# temporary directories.
policy=/usr/sbin/policy-rc.d
made_policy=""
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
    $as_root chmod +x $policy
    made_policy=yes
fi
# Somebody else may be installing.
wait=-oDPkg::Lock::Timeout=600
status=0
{ $as_root apt-get "$wait" update -qq &&
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get "$wait" install -y -qq --no-install-recommends $missing; } >&2 || status=$?
[ -z "$made_policy" ] || $as_root rm -f $policy
exit $status
