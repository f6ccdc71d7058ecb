"""Tiny random checkpoints, one per architecture, written as a user's would be (config, safetensors, tokenizer).

For tests only, and importable from any of them as `checkpoint_models`; the session fixture `tiny_checkpoint` of
tests/conftest.py writes each once and returns its directory: `tiny_checkpoint("gemma2")`.  torch and transformers are
imported inside the functions.

Every parameter is drawn at a scale at which it matters: gains are far from 1, biases from 0, logits reach the soft
cap, the sliding windows and the context that the llama3 rotary scaling was made for are shorter than TEXT.
"""

from __future__ import annotations

import functools
from pathlib import Path

FAMILIES = ("gpt2", "llama", "mistral", "gemma", "gemma2", "gemma3")
WINDOW = 7
CONTEXT = 96
BOS = "<s>"
TEXT = ("The river rose in the night. By morning the lower field was a lake, and the fence posts stood in it like the"
        " teeth of a comb; nobody had heard the water come.")


def save(family: str, directory: Path, *, bos: bool = True, seed: int = 0, **settings: object) -> Path:
    """Write a random checkpoint of `family` into `directory`; with `bos=False` its tokenizer names no BOS token.

    `settings` change its configuration.
    """
    directory.mkdir(parents=True, exist_ok=True)
    model(family, seed, **settings).save_pretrained(directory)
    tokenizer(bos).save_pretrained(directory)
    return directory


def model(family: str, seed: int = 0, **settings: object):
    """A causal language model of `family` with three layers and random parameters, in evaluation mode."""
    import torch
    from transformers import AutoModelForCausalLM

    sizes = config(family)
    sizes.update(settings)
    made = AutoModelForCausalLM.from_config(sizes, attn_implementation="eager", dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            parameter.copy_(_drawn(family, name, parameter.shape, generator))
    return made


def config(family: str):
    """The configuration: sizes pairwise different where the architecture allows it."""
    import transformers

    shared = {"vocab_size": len(tokenizer(True)), "hidden_size": 36, "intermediate_size": 44, "num_hidden_layers": 3,
              "num_attention_heads": 6, "max_position_embeddings": CONTEXT, "bos_token_id": 0, "eos_token_id": 1,
              "pad_token_id": None}
    match family:
        case "gpt2":
            return transformers.GPT2Config(
                vocab_size=shared["vocab_size"], n_embd=36, n_layer=3, n_head=6, n_positions=CONTEXT, bos_token_id=0,
                eos_token_id=1)
        case "llama":
            return transformers.LlamaConfig(**shared, num_key_value_heads=2, head_dim=10, rope_parameters={
                "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 12})
        case "mistral":
            return transformers.MistralConfig(**shared, num_key_value_heads=3, head_dim=8, sliding_window=WINDOW)
        case "gemma":
            return transformers.GemmaConfig(**shared, num_key_value_heads=1, head_dim=14)
        case "gemma2":
            return transformers.Gemma2Config(
                **shared, num_key_value_heads=2, head_dim=10, sliding_window=WINDOW, query_pre_attn_scalar=5,
                attn_logit_softcapping=2.0,
                layer_types=["sliding_attention", "full_attention", "sliding_attention"])
        case "gemma3":
            return transformers.Gemma3TextConfig(
                **shared, num_key_value_heads=3, head_dim=8, sliding_window=WINDOW, query_pre_attn_scalar=5,
                layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 1000.0},
                                 "sliding_attention": {"rope_type": "default", "rope_theta": 10.0}})
    raise ValueError(f"expected one of {FAMILIES}, got {family!r}")


@functools.cache
def tokenizer(bos: bool):
    """A byte-level BPE tokenizer learned from TEXT: it encodes any text; ids 0 and 1 are its special tokens."""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = tokenizers.Tokenizer(tokenizers.models.BPE())
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = tokenizers.decoders.ByteLevel()
    pieces.train_from_iterator([TEXT], tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=[BOS, "</s>"], show_progress=False,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())))
    names = {"bos_token": BOS} if bos else {}
    return PreTrainedTokenizerFast(tokenizer_object=pieces, eos_token="</s>", **names)


def _drawn(family: str, name: str, shape, generator):
    """Projections keep the scale of what they act on, doubled for queries and keys; gains are near 1, biases near 0."""
    import torch

    noise = torch.randn(shape, generator=generator)
    if len(shape) == 1:
        gain = "norm" in name or "ln_" in name
        # Gemma stores a gain as its difference from 1.
        return 0.4 * noise + (1.0 if gain and name.endswith("weight") and not family.startswith("gemma") else 0.0)
    if "embed" in name or "wte" in name or "wpe" in name:
        return noise if not family.startswith("gemma") else noise / 6.0
    fan_in = shape[0] if family == "gpt2" else shape[1]
    sharper = 2.0 if any(part in name for part in ("q_proj", "k_proj", "c_attn")) else 1.0
    return sharper * noise / fan_in**0.5
