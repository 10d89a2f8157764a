"""Run llama.cpp's own server, as the library xllamacpp has it, with the options of its program that the tests use.

    PYTHONPATH=packages python3 server.py --model FILE --port PORT [--alias NAME] [--ctx-size TOKENS] ...

The built programs of other packages use what the processor had that built them, and die on an older one. The library
runs on any, and is the same server.
"""

import argparse
import signal

import xllamacpp

options = argparse.ArgumentParser()
options.add_argument("--model", required=True)
options.add_argument("--alias")
options.add_argument("--host", default="127.0.0.1")
options.add_argument("--port", type=int, required=True)
options.add_argument("--ctx-size", type=int, default=4096)
options.add_argument("--threads", type=int, default=2)
options.add_argument("--parallel", type=int, default=1)
options.add_argument("--embedding", action="store_true")
options.add_argument("--chat-template-file")
given = options.parse_args()

settings = xllamacpp.CommonParams()
settings.model.path = given.model
if given.alias:
    settings.model_alias = {given.alias}
settings.hostnames = [given.host]
settings.port = given.port
settings.n_ctx = given.ctx_size
settings.n_parallel = given.parallel
settings.n_gpu_layers = 0
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = given.threads
settings.embedding = given.embedding
if given.chat_template_file:
    settings.chat_template = open(given.chat_template_file).read()
settings.endpoint_props = settings.endpoint_slots = settings.use_jinja = True
settings.ui = False
server = xllamacpp.Server(settings)
signal.pause()
