#!/usr/bin/env bash
# usage: screenshot.sh pictures|animation
#
# Makes pictures of real Emacs frames with real conversations, in an X server
# without a screen. The answers are a script's, streamed by a model server.
#   pictures   testdata/screenshot.png, testdata/skill.png, in which a skill was
#              written, and the other buffers in testdata/tour
#   animation  testdata/animation.gif: a question, its answer, a change that is
#              allowed
# "make screenshot" and "make animation" run this; it needs Xvfb and the
# programs in bin, for the animation also Go.
set -euo pipefail
cd "$(dirname "$0")/../.."
emacs=$(testdata/screenshot/emacs-with-windows.sh)

home=$(mktemp -d)
children=()
end() {
    for instance in "$home" "$home"/{author,tour,animation}; do
        HOME=$instance XDG_STATE_HOME=$instance/state bin/org-agent stop 2>/dev/null || true
    done
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    wait
    rm -rf "$home"
}
trap end EXIT

export XDG_STATE_HOME=$home/state XDG_RUNTIME_DIR=$home/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
unset ORG_AGENT_HOME ORG_AGENT_LLM

# await FILE: wait until a program wrote a line into it.
await() {
    for _ in $(seq 100); do
        [ "$(tail -c 1 "$1" | wc -l)" = 1 ] && { cat "$1"; return; }
        sleep 0.1
    done
    echo "nothing came in $1" >&2
    return 1
}

bin/llmtest-server --script testdata/screenshot/model.json >"$home/url" &
children+=($!)
# Without -noreset it is restarted when an Emacs ends, and the next one may not reach it.
Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp -ac -noreset 3>"$home/display" 2>"$home/xvfb.log" &
children+=($!)
ORG_AGENT_LLM_BASE_URL=$(await "$home/url")
DISPLAY=:$(await "$home/display")
export ORG_AGENT_LLM_BASE_URL DISPLAY ORG_AGENT_LLM_API_KEY=none ORG_AGENT_LLM_MODEL=test-model

# shoot HOME SCRIPT PLACE: run SCRIPT in an Emacs whose home is HOME and have it write to PLACE.
shoot() {
    mkdir -p "$1"
    HOME=$1 XDG_STATE_HOME=$1/state timeout 180 "$emacs" -Q -L elisp -l "testdata/screenshot/$2" "$3"
}

case ${1-} in
pictures)
    mkdir -p testdata/tour
    shoot "$home" screenshot.el testdata/screenshot.png
    ORG_AGENT_LLM=builtin shoot "$home/author" skill.el testdata/skill.png
    shoot "$home/tour" tour.el testdata/tour
    ls -l testdata/screenshot.png testdata/skill.png testdata/tour
    ;;
animation)
    mkdir "$home/frames"
    shoot "$home/animation" animation.el "$home/frames"
    "${GO:-go}" run testdata/screenshot/animation.go "$home/frames/frames" testdata/animation.gif
    ls -l testdata/animation.gif
    ;;
*)
    sed -n 's/^# \(usage: \)/\1/p' "$0" >&2
    exit 2
    ;;
esac
