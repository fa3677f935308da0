//! Added tokens: which literals are cut out of a text before the model sees it.

use crate::ffi::Failure;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

#[derive(Clone, Debug)]
pub struct AddedToken {
    pub id: i32,
    pub literal: String,
    pub control: bool,
    pub single_word: bool,
    pub lstrip: bool,
    pub rstrip: bool,
    /// Matched in the normalised text instead of the raw one.
    pub normalized: bool,
}

/// A part of a text: an added token, or text for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub start: usize,
    pub end: usize,
    pub id: Option<i32>,
}

/// A set of literals, matched leftmost and longest.
pub struct AddedSet {
    automaton: AhoCorasick,
    tokens: Vec<AddedToken>,
}

impl AddedSet {
    /// `literals` are what is searched for, one per token.
    pub fn new(tokens: Vec<AddedToken>, literals: &[String]) -> Result<Self, Failure> {
        let automaton = build(literals, MatchKind::LeftmostLongest)?;
        Ok(AddedSet { automaton, tokens })
    }

    fn of(tokens: &[AddedToken], wanted: impl Fn(&AddedToken) -> bool) -> Result<Self, Failure> {
        let tokens: Vec<_> = tokens.iter().filter(|t| wanted(t)).cloned().collect();
        let literals: Vec<_> = tokens.iter().map(|t| t.literal.clone()).collect();
        Self::new(tokens, &literals)
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The parts of `text`, in order; none is empty.
    pub fn segments(&self, text: &str) -> Vec<Segment> {
        let mut parts = Vec::new();
        let mut done = 0;
        for found in self.automaton.find_iter(text) {
            let token = &self.tokens[found.pattern().as_usize()];
            let (mut start, mut end) = (found.start(), found.end());
            if start < done || (token.single_word && !stands_alone(text, start, end)) {
                continue;
            }
            if token.lstrip {
                start = text[..start].trim_end().len().max(done);
            }
            if token.rstrip {
                end = text.len() - text[end..].trim_start().len();
            }
            if done < start {
                parts.push(Segment { start: done, end: start, id: None });
            }
            parts.push(Segment { start, end, id: Some(token.id) });
            done = end;
        }
        if done < text.len() {
            parts.push(Segment { start: done, end: text.len(), id: None });
        }
        parts
    }
}

fn build(literals: &[String], kind: MatchKind) -> Result<AhoCorasick, Failure> {
    AhoCorasickBuilder::new()
        .match_kind(kind)
        .build(literals)
        .map_err(|e| Failure::bad_data(format!("added tokens: {e}")))
}

fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !text[..start].chars().next_back().is_some_and(is_word) && !text[end..].chars().next().is_some_and(is_word)
}

/// The added tokens of one tokenizer, ready for every mode.
pub struct AddedTokens {
    pub raw_all: AddedSet,
    pub raw_plain: AddedSet,
    pub normalized_all: AddedSet,
    pub normalized_plain: AddedSet,
    /// Control tokens that guarding can take apart: those of two characters and more.
    pub control: AddedSet,
    overlapping_control: AhoCorasick,
}

impl AddedTokens {
    /// `normalize` is applied to the literals of normalised tokens.
    pub fn new(tokens: Vec<AddedToken>, normalize: impl Fn(&str) -> String) -> Result<Self, Failure> {
        let tokens: Vec<_> = tokens.into_iter().filter(|t| !t.literal.is_empty()).collect();
        let normalized_set = |control_too: bool| {
            let wanted = |t: &&AddedToken| t.normalized && (control_too || !t.control);
            let chosen: Vec<_> = tokens.iter().filter(wanted).cloned().collect();
            let literals: Vec<_> = chosen.iter().map(|t| normalize(&t.literal)).collect();
            AddedSet::new(chosen, &literals)
        };
        let control = AddedSet::of(&tokens, |t| t.control && t.literal.chars().nth(1).is_some())?;
        let literals: Vec<_> = control.tokens.iter().map(|t| t.literal.clone()).collect();
        Ok(AddedTokens {
            raw_all: AddedSet::of(&tokens, |t| !t.normalized)?,
            raw_plain: AddedSet::of(&tokens, |t| !t.normalized && !t.control)?,
            normalized_all: normalized_set(true)?,
            normalized_plain: normalized_set(false)?,
            overlapping_control: build(&literals, MatchKind::Standard)?,
            control,
        })
    }

    /// Where control-token literals start in `text`, overlapping ones included; ascending, each once.
    pub fn control_starts(&self, text: &str) -> Vec<usize> {
        let mut starts: Vec<_> = self.overlapping_control.find_overlapping_iter(text).map(|m| m.start()).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }
}
