"""Write a sentence embedder of the family of BERT as a file that llama.cpp reads.

    python3 gguf-of-bert.py DIRECTORY FILE

DIRECTORY has model.safetensors, config.json, vocab.txt and 1_Pooling/config.json, as the
authors publish them. The weights are 32-bit floats in both formats, so they are copied
byte for byte. Nothing but Python's own library is needed.
"""

import json
import pathlib
import struct
import sys

ALIGNMENT = 32
FLOAT32 = 0

# The types of values in GGUF.
UINT32, INT32, FLOAT, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9

# The types of tokens.
NORMAL, UNKNOWN, CONTROL = 1, 2, 3

# What the names of the weights become. The name of a layer's weight begins with its number.
WHOLE = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    if kind == STRING:
        return text(content)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT: "<f", BOOL: "<?"}[kind], content)


def entry(key, kind, content):
    return text(key) + struct.pack("<I", kind) + value(kind, content)


def array(key, kind, contents):
    head = text(key) + struct.pack("<IIQ", ARRAY, kind, len(contents))
    return head + b"".join(value(kind, one) for one in contents)


def renamed(name):
    """Return the name of a weight in GGUF, or None for one that is not needed."""
    module, _, last = name.rpartition(".")
    if module in WHOLE:
        return f"{WHOLE[module]}.{last}"
    if module.startswith("encoder.layer."):
        number, _, part = module.removeprefix("encoder.layer.").partition(".")
        return f"blk.{number}.{LAYER[part]}.{last}"
    return None  # the position numbers, and the layer above the embedding


def vocabulary(path):
    """Return the tokens as llama.cpp has them, and their types: a word begins with U+2581."""
    tokens, kinds = [], []
    for token in path.read_text(encoding="utf-8").splitlines():
        special = token.startswith("[") and token.endswith("]") and token[1:-1] in ("PAD", "UNK", "CLS", "SEP", "MASK")
        kinds.append(UNKNOWN if token == "[UNK]" else CONTROL if special else NORMAL)
        if not special:
            token = token[2:] if token.startswith("##") else "\u2581" + token
        tokens.append(token)
    return tokens, kinds


def weights(path):
    """Return (name, shape, bytes) of each weight that is needed."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    body = 8 + size
    for name, about in sorted(json.loads(data[8:body]).items()):
        new = renamed(name)
        if new is None:
            continue
        if about["dtype"] != "F32":
            sys.exit(f"{name} is {about['dtype']}, and only F32 can be copied")
        begin, end = about["data_offsets"]
        yield new, about["shape"], data[body + begin : body + end]


def main():
    source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    config = json.loads((source / "config.json").read_text())
    pooling = json.loads((source / "1_Pooling" / "config.json").read_text())
    if not pooling["pooling_mode_mean_tokens"]:
        sys.exit("only the mean of the tokens is known here")
    tokens, kinds = vocabulary(source / "vocab.txt")
    number = {token: i for i, token in enumerate(tokens)}
    entries = [
        entry("general.architecture", STRING, "bert"),
        entry("general.name", STRING, config["_name_or_path"]),
        entry("general.file_type", UINT32, FLOAT32),
        entry("bert.block_count", UINT32, config["num_hidden_layers"]),
        entry("bert.context_length", UINT32, config["max_position_embeddings"]),
        entry("bert.embedding_length", UINT32, config["hidden_size"]),
        entry("bert.feed_forward_length", UINT32, config["intermediate_size"]),
        entry("bert.attention.head_count", UINT32, config["num_attention_heads"]),
        entry("bert.attention.layer_norm_epsilon", FLOAT, config["layer_norm_eps"]),
        entry("bert.attention.causal", BOOL, False),
        entry("bert.pooling_type", UINT32, 1),
        entry("tokenizer.ggml.token_type_count", UINT32, config["type_vocab_size"]),
        entry("tokenizer.ggml.model", STRING, "bert"),
        entry("tokenizer.ggml.pre", STRING, "jina-v2-en"),
        array("tokenizer.ggml.tokens", STRING, tokens),
        array("tokenizer.ggml.token_type", INT32, kinds),
        entry("tokenizer.ggml.bos_token_id", UINT32, number["[CLS]"]),
        entry("tokenizer.ggml.eos_token_id", UINT32, number["[SEP]"]),
        entry("tokenizer.ggml.unknown_token_id", UINT32, number["[UNK]"]),
        entry("tokenizer.ggml.seperator_token_id", UINT32, number["[SEP]"]),
        entry("tokenizer.ggml.padding_token_id", UINT32, number["[PAD]"]),
        entry("tokenizer.ggml.cls_token_id", UINT32, number["[CLS]"]),
        entry("tokenizer.ggml.mask_token_id", UINT32, number["[MASK]"]),
    ]
    infos, bodies, offset = [], [], 0
    for name, shape, data in weights(source / "model.safetensors"):
        sizes = list(reversed(shape))
        infos.append(text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, FLOAT32, offset))
        padding = -len(data) % ALIGNMENT
        bodies.append(data + b"\0" * padding)
        offset += len(data) + padding
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(entries)) + b"".join(entries) + b"".join(infos)
    target.write_bytes(head + b"\0" * (-len(head) % ALIGNMENT) + b"".join(bodies))


main()
