#!/usr/bin/env bash
# Makes testdata/screenshot.png, a real Emacs frame with a real conversation,
# testdata/skill.png, one in which a skill was written, and a picture of each of
# the other buffers in testdata/tour, in an X server without a screen. The answers of the conversation are a script's, streamed by a model
# server. "make screenshot" runs this; it needs Xvfb and the programs in bin.
set -euo pipefail
cd "$(dirname "$0")/../.."
emacs=$(testdata/screenshot/emacs-with-windows.sh)

home=$(mktemp -d)
children=()
end() {
    for instance in "$home" "$home/author" "$home/tour"; do
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

HOME=$home timeout 120 "$emacs" -Q -L elisp -l testdata/screenshot/screenshot.el testdata/screenshot.png
mkdir "$home/author"
HOME=$home/author XDG_STATE_HOME=$home/author/state ORG_AGENT_LLM=builtin timeout 120 "$emacs" -Q -L elisp -l testdata/screenshot/skill.el testdata/skill.png
mkdir -p "$home/tour" testdata/tour
HOME=$home/tour XDG_STATE_HOME=$home/tour/state timeout 180 "$emacs" -Q -L elisp -l testdata/screenshot/tour.el testdata/tour
ls -l testdata/screenshot.png testdata/skill.png testdata/tour
