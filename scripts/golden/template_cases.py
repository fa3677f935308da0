#!/usr/bin/env python3
"""Chat templates rendered by transformers -> tests/golden/templates/{conversations,results}.json and <model>.jinja.

The renderer is transformers.utils.chat_template_utils.render_jinja_template (its sandboxed Jinja environment) with
strftime_now fixed to conversations.json's "now". Templates: the real models' (Apache-2.0 ones are committed as .jinja) and
llama.cpp's models/templates/*.jinja, which are copied to the cache and not committed.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import shutil
from pathlib import Path

import gguf
from transformers.utils import chat_template_utils as renderer

from common import CATALOGUE, GOLDEN, MODELS, PEERS

REAL = {"smollm2-135m": "smollm2:135m", "qwen2.5-coder-0.5b": "qwen2.5-coder:0.5b",
        "qwen2.5-coder-1.5b": "qwen2.5-coder:1.5b"}
NOW = datetime.datetime(2026, 1, 15, 12, 34, 56)

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Current weather of a place. Use \"metric\" units & be <brief>.",
    "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "City name, e.g. Z\u00fcrich"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": "integer", "minimum": 1}}, "required": ["city"]}}}
SUM = {"type": "function", "function": {
    "name": "add", "description": "Adds numbers", "parameters": {"type": "object", "properties": {
        "values": {"type": "array", "items": {"type": "number"}}}, "required": ["values"]}}}


def call(name: str, arguments: dict, ident: str) -> dict:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def conversations() -> dict:
    """name -> {messages, tools, add_generation_prompt, extra}; messages are what the template sees."""
    def user(text):
        return {"role": "user", "content": text}

    def assistant(text, **more):
        return {"role": "assistant", "content": text} | more

    thought = "The user wants a sum.\nTwo and two are four."
    tool_talk = [
        {"role": "system", "content": "You are a helpful assistant."}, user("Weather in Z\u00fcrich, and 2 + 2.5?"),
        assistant("", tool_calls=[call("get_weather", {"city": "Z\u00fcrich", "unit": "celsius", "days": 2}, "call00001"),
                                  call("add", {"values": [2, 2.5]}, "call00002")]),
        {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "{\"temp\": 21.5, \"sky\": \"clear\"}"},
        {"role": "tool", "name": "add", "tool_call_id": "call00002", "content": "4.5"},
        assistant("21.5 degrees and clear; the sum is 4.5."), user("Thanks! And tomorrow?")]
    table = {
        "chat": ([{"role": "system", "content": "You are a helpful assistant."}, user("Hello, who are you?"),
                  assistant("I am a test."), user("Good. Say \"hi\".")], None, True, {}),
        "user": ([user("What is the capital of France?")], None, True, {}),
        "closed": ([user("One."), assistant("Two."), user("Three."), assistant("Four.")], None, False, {}),
        "unicode": ([user("  \u00bfQu\u00e9? \u201cquotes\u201d 'single' \"double\" \\n <b>&amp;</b> {{ x }} {% if %}\n\n\u4f60\u597d \U0001f469\u200d\U0001f4bb\ttab  "),
                     assistant("\n line \u2028 e\u0301 </s> \n"), user("\u05e9\u05dc\u05d5\u05dd")], None, True, {}),
        "tools_offered": ([user("Weather in Oslo?")], [WEATHER, SUM], True, {}),
        "tools": (tool_talk, [WEATHER, SUM], True, {}),
        "tool_single": ([user("Add 1 and 2."), assistant("", tool_calls=[call("add", {"values": [1, 2]}, "call00001")]),
                         {"role": "tool", "name": "add", "tool_call_id": "call00001", "content": "3"}], [SUM], True, {}),
        "reasoning": ([user("2 + 2?"), {"thinking": thought, "role": "assistant", "content": "4", "reasoning_content": thought},
                       user("And 3 + 3?")], None, True, {"enable_thinking": False}),
    }
    return {name: {"messages": m, "tools": t, "add_generation_prompt": g, "extra": e} for name, (m, t, g, e) in table.items()}


class FixedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def render(template: str, c: dict, bos: str, eos: str) -> dict:
    """{"rendered": text} or {"error": true, "message": ...}."""
    try:
        texts, _ = renderer.render_jinja_template([c["messages"]], tools=c["tools"], chat_template=template,
                                                  add_generation_prompt=c["add_generation_prompt"], bos_token=bos, eos_token=eos,
                                                  **c["extra"])
        return {"rendered": texts[0]}
    except Exception as problem:  # whatever a template raises is a result
        return {"error": True, "message": f"{type(problem).__name__}: {problem}"[:160]}


def real_templates(out: Path) -> dict:
    """Writes <model>.jinja; name -> (template, bos, eos)."""
    found = {}
    for stem, name in REAL.items():
        reader = gguf.GGUFReader(MODELS / CATALOGUE[name])
        tokens = reader.get_field("tokenizer.ggml.tokens").contents()
        bos, eos = (tokens[reader.get_field(f"tokenizer.ggml.{k}_token_id").contents()] for k in ("bos", "eos"))
        template = reader.get_field("tokenizer.chat_template").contents()
        (out / f"{stem}.jinja").write_bytes(template.encode())
        found[f"{stem}.jinja"] = (template, bos, eos)
    return found


def foreign_templates(source: Path) -> dict:
    folder, found = PEERS / "templates", {}
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.jinja")):
        shutil.copy(path, folder / path.name)
        found[path.name] = (path.read_bytes().decode(), "<s>", "</s>")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=GOLDEN / "templates")
    parser.add_argument("--source", type=Path, default=PEERS / "llama.cpp" / "models" / "templates")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    renderer.datetime = FixedClock
    talks = conversations()
    results = {}
    own = real_templates(args.out)
    for name, (template, bos, eos) in (own | foreign_templates(args.source)).items():
        entry = {"folder": "" if name in own else "peers/templates", "bos_token": bos, "eos_token": eos,
                 "sha256": hashlib.sha256(template.encode()).hexdigest()}
        results[name] = entry | {"results": {k: render(template, c, bos, eos) for k, c in talks.items()}}
    head = {"now": NOW.isoformat(sep=" "), "conversations": talks}
    (args.out / "conversations.json").write_text(json.dumps(head, indent=1, ensure_ascii=True) + "\n")
    path = args.out / "results.json"
    path.write_text(json.dumps(results, indent=0, ensure_ascii=True) + "\n")
    failed = [(n, k, r["message"]) for n, e in results.items() for k, r in e["results"].items() if "error" in r]
    print(f"{len(results)} templates x {len(talks)} conversations, {len(failed)} errors, {path.stat().st_size} bytes")
    for line in failed:
        print("  ", *line)


if __name__ == "__main__":
    main()
