#!/usr/bin/env bash
# Prints the name of an Emacs that shows windows: EMACS, if it does.
#
# An Emacs without windows (emacs-nox) is left as it is: the same version with
# windows is unpacked from its Debian package into .cache/screenshot.
set -euo pipefail
cd "$(dirname "$0")/../.."
emacs=${EMACS:-emacs}

windows='(kill-emacs (if (featurep (quote x)) 0 1))'
if "$emacs" -Q --batch --eval "$windows"; then echo "$emacs"; exit; fi

unpacked=$PWD/.cache/screenshot
if [ ! -x "$unpacked/root/usr/bin/emacs-lucid" ]; then
    command -v apt-get >/dev/null || { echo "this Emacs shows no windows: set EMACS to one that does" >&2; exit 1; }
    mkdir -p "$unpacked"
    packages=$(apt-get install -s --no-install-recommends emacs-lucid | awk '/^Inst/ { print $2 }')
    (cd "$unpacked" && for package in $packages; do apt-get download -qq "$package"; done 2>"$unpacked/log") ||
        { cat "$unpacked/log" >&2; exit 1; }
    for package in "$unpacked"/*.deb; do dpkg -x "$package" "$unpacked/root"; done
    # Emacs looks for its dump beside itself before it looks where it was built for.
    cp "$unpacked"/root/usr/libexec/emacs/*/*/emacs.pdmp "$unpacked/root/usr/bin/emacs-lucid.pdmp"
fi
cat >"$unpacked/emacs" <<END
#!/bin/sh
LD_LIBRARY_PATH='$unpacked/root/usr/lib/$(uname -m)-linux-gnu' exec '$unpacked/root/usr/bin/emacs-lucid' "\$@"
END
chmod +x "$unpacked/emacs"
echo "$unpacked/emacs"
