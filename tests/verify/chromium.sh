#!/usr/bin/env bash
# Sees to a Chromium for tests/verify/test_browser.py. One that is there is used: $CHROMIUM, the system's, or
# Playwright's own. Otherwise Debian's package is installed; elsewhere Playwright fetches its build.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=.venv/bin/python

if "$python" tests/verify/chromium.py; then
    exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
fi
# Ubuntu's package of that name is a snap, which containers cannot run.
if grep -q '^ID=debian' /etc/os-release; then
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
else
    "$python" -m playwright install --with-deps chromium
fi
"$python" tests/verify/chromium.py
