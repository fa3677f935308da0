//! Text to ids: added tokens are cut out, the rest goes through one of two pipelines.

mod added;
mod bytes;
mod ffi;
mod gguf;
mod json;
mod merges;

use crate::ffi::Failure;
use added::{AddedSet, AddedTokens, Segment};
use gguf::GgufPipeline;
use json::JsonPipeline;

/// Stands inside guarded literals; a noncharacter, so no model writes it.
const GUARD: char = '\u{FDD0}';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Plain,
    Parse,
    Guarded,
}

enum Pipeline {
    Gguf(GgufPipeline),
    Json(JsonPipeline),
}

pub struct Tokenizer {
    added: AddedTokens,
    pipeline: Pipeline,
}

impl Tokenizer {
    pub fn encode(&self, text: &str, mode: Mode) -> Result<Vec<i32>, Failure> {
        match mode {
            Mode::Plain => self.encode_with(text, &self.added.raw_plain, &self.added.normalized_plain),
            Mode::Parse => self.encode_with(text, &self.added.raw_all, &self.added.normalized_all),
            Mode::Guarded => self.encode_guarded(text),
        }
    }

    fn encode_with(&self, text: &str, raw: &AddedSet, normalized: &AddedSet) -> Result<Vec<i32>, Failure> {
        self.run(text, &raw.segments(text), normalized)
    }

    fn encode_guarded(&self, text: &str) -> Result<Vec<i32>, Failure> {
        let mut clean = String::with_capacity(text.len());
        let mut parts = Vec::new();
        for segment in self.added.control.segments(text) {
            let base = clean.len();
            clean.extend(text[segment.start..segment.end].chars().filter(|c| *c != GUARD));
            if segment.id.is_some() {
                parts.push(Segment { start: base, end: clean.len(), id: segment.id });
                continue;
            }
            let inner = self.added.raw_plain.segments(&clean[base..]);
            parts.extend(inner.iter().map(|s| Segment { start: base + s.start, end: base + s.end, id: s.id }));
        }
        self.run(&clean, &parts, &self.added.normalized_plain)
    }

    fn run(&self, text: &str, parts: &[Segment], normalized: &AddedSet) -> Result<Vec<i32>, Failure> {
        match &self.pipeline {
            Pipeline::Gguf(pipeline) => pipeline.encode(text, parts),
            Pipeline::Json(pipeline) => pipeline.encode(text, parts, normalized),
        }
    }

    pub fn guard(&self, text: &str) -> Result<String, Failure> {
        if text.contains(GUARD) {
            return Err(Failure::bad_argument("text holds U+FDD0, which is reserved"));
        }
        let mut guarded = String::with_capacity(text.len());
        let mut done = 0;
        for start in self.added.control_starts(text) {
            let first = text[start..].chars().next().map_or(0, char::len_utf8);
            guarded.push_str(&text[done..start + first]);
            guarded.push(GUARD);
            done = start + first;
        }
        guarded.push_str(&text[done..]);
        Ok(guarded)
    }

    fn json(&self) -> Option<&JsonPipeline> {
        match &self.pipeline {
            Pipeline::Json(pipeline) => Some(pipeline),
            Pipeline::Gguf(_) => None,
        }
    }
}
