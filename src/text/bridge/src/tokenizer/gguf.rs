//! Byte-pair models out of GGUF vocabularies.

use super::added::{AddedToken, AddedTokens, Segment};
use super::bytes::byte_characters;
use super::merges::{self, Vocab};
use super::{Pipeline, Tokenizer};
use crate::ffi::Failure;
use tokenizers::models::bpe::BPE;
use tokenizers::utils::SysRegex;
use tokenizers::Model;

const UNKNOWN: u8 = 2;
const CONTROL: u8 = 3;
const USER_DEFINED: u8 = 4;

/// SentencePiece's picture of a space.
const SPACE: char = '\u{2581}';

/// Longest piece of text that is looked up in the word cache of the model.
const CACHED_WORDS: usize = 10_000;

pub struct GgufVocab<'a> {
    pub tokens: Vec<&'a [u8]>,
    pub types: &'a [u8],
    pub merges: Vec<&'a [u8]>,
    pub scores: Option<&'a [f64]>,
    pub splits: Vec<&'a str>,
    pub unknown: Option<usize>,
    pub byte_level: bool,
    pub escape_spaces: bool,
    pub prefix_space: bool,
    pub ignore_merges: bool,
}

pub struct GgufPipeline {
    splits: Vec<SysRegex>,
    byte_characters: Option<[char; 256]>,
    escape_spaces: bool,
    prefix_space: bool,
    model: BPE,
}

impl GgufVocab<'_> {
    pub fn build(&self) -> Result<Tokenizer, Failure> {
        let vocab = self.mergeable();
        let merges = match self.scores {
            Some(scores) => merges::from_scores(&vocab, scores),
            None => merges::from_list(self.merges.iter().filter_map(|m| std::str::from_utf8(m).ok()), &vocab),
        };
        let mut builder = BPE::builder()
            .vocab_and_merges(vocab, merges)
            .cache_capacity(CACHED_WORDS)
            .ignore_merges(self.ignore_merges)
            .byte_fallback(!self.byte_level)
            .fuse_unk(true);
        if let Some(literal) = self.unknown.and_then(|id| self.literal(id)) {
            builder = builder.unk_token(literal.to_owned());
        }
        let model = builder.build().map_err(|e| Failure::bad_data(format!("vocabulary: {e}")))?;
        let pipeline = GgufPipeline {
            splits: self.compile_splits()?,
            byte_characters: self.byte_level.then(byte_characters),
            escape_spaces: self.escape_spaces,
            prefix_space: self.prefix_space,
            model,
        };
        let added = AddedTokens::new(self.added(), str::to_owned)?;
        Ok(Tokenizer { added, pipeline: Pipeline::Gguf(pipeline) })
    }

    fn literal(&self, id: usize) -> Option<&str> {
        std::str::from_utf8(self.tokens.get(id)?).ok()
    }

    /// All tokens that plain text may become; control tokens are left out, so that no merge makes one.
    fn mergeable(&self) -> Vocab {
        let mut vocab = Vocab::with_capacity(self.tokens.len());
        for (id, kind) in self.types.iter().enumerate() {
            let reachable = *kind != CONTROL && (*kind != UNKNOWN || Some(id) == self.unknown);
            if let (true, Some(literal)) = (reachable, self.literal(id)) {
                vocab.insert(literal.to_owned(), id as u32);
            }
        }
        vocab
    }

    fn added(&self) -> Vec<AddedToken> {
        let wanted = |kind: u8| matches!(kind, UNKNOWN | CONTROL | USER_DEFINED);
        let added = |(id, kind): (usize, &u8)| {
            Some(AddedToken {
                id: id as i32,
                literal: self.literal(id)?.to_owned(),
                control: *kind != USER_DEFINED,
                single_word: false,
                lstrip: false,
                rstrip: false,
                normalized: false,
            })
        };
        self.types.iter().enumerate().filter(|(_, kind)| wanted(**kind)).filter_map(added).collect()
    }

    fn compile_splits(&self) -> Result<Vec<SysRegex>, Failure> {
        let compile = |pattern: &&str| SysRegex::new(pattern).map_err(|e| Failure::internal(format!("split: {e}")));
        self.splits.iter().map(compile).collect()
    }
}

impl GgufPipeline {
    pub fn encode(&self, text: &str, parts: &[Segment]) -> Result<Vec<i32>, Failure> {
        let mut ids = Vec::with_capacity(text.len() / 3 + 1);
        for part in parts {
            match part.id {
                Some(id) => ids.push(id),
                None => self.encode_part(&text[part.start..part.end], &mut ids)?,
            }
        }
        Ok(ids)
    }

    /// Every part without an id stands at the start or behind an added token.
    fn encode_part(&self, text: &str, ids: &mut Vec<i32>) -> Result<(), Failure> {
        if !self.escape_spaces {
            return self.encode_words(text, ids);
        }
        let mut escaped = String::with_capacity(text.len() * 2);
        if self.prefix_space {
            escaped.push(SPACE);
        }
        escaped.extend(text.chars().map(|c| if c == ' ' { SPACE } else { c }));
        self.encode_words(&escaped, ids)
    }

    fn encode_words(&self, text: &str, ids: &mut Vec<i32>) -> Result<(), Failure> {
        let mut pieces = vec![(0, text.len())];
        for split in &self.splits {
            let mut finer = Vec::with_capacity(text.len() / 4 + 1);
            for (start, end) in pieces {
                isolate(split, text, start, end, &mut finer);
            }
            pieces = finer;
        }
        let mut mapped = String::new();
        for (start, end) in pieces {
            let word = &text[start..end];
            let Some(table) = &self.byte_characters else {
                self.encode_word(word, ids)?;
                continue;
            };
            mapped.clear();
            mapped.extend(word.bytes().map(|b| table[usize::from(b)]));
            self.encode_word(&mapped, ids)?;
        }
        Ok(())
    }

    fn encode_word(&self, word: &str, ids: &mut Vec<i32>) -> Result<(), Failure> {
        let tokens = self.model.tokenize(word).map_err(|e| Failure::bad_data(format!("model: {e}")))?;
        ids.extend(tokens.iter().map(|t| t.id as i32));
        Ok(())
    }
}

/// Cuts text[start..end] into the matches of `split` and what lies between them.
fn isolate(split: &SysRegex, text: &str, start: usize, end: usize, pieces: &mut Vec<(usize, usize)>) {
    let mut done = start;
    for (from, to) in split.find_iter(&text[start..end]) {
        let (from, to) = (start + from, start + to);
        if done < from {
            pieces.push((done, from));
        }
        if from < to {
            pieces.push((from, to));
        }
        done = to;
    }
    if done < end {
        pieces.push((done, end));
    }
}
