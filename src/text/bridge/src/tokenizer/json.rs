//! tokenizer.json of Hugging Face, run by its own library; only the added tokens are matched here.

use super::added::{AddedSet, AddedToken, AddedTokens, Segment};
use super::{Pipeline, Tokenizer};
use crate::ffi::Failure;
use serde_json::Value;
use std::collections::BTreeMap;
use tokenizers::normalizer::Range;
use tokenizers::{Encoding, Model, ModelWrapper, NormalizedString, Normalizer, OffsetReferential, OffsetType};
use tokenizers::{PostProcessor, PreTokenizedString, PreTokenizer, Token};

type Split = (NormalizedString, Option<Vec<Token>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decode {
    ByteLevel,
    SentencePiece { strips_leading_space: bool },
}

pub struct JsonPipeline {
    library: tokenizers::Tokenizer,
    added: BTreeMap<u32, AddedToken>,
    decode: Decode,
}

pub fn build(json: &[u8]) -> Result<Tokenizer, Failure> {
    let library = tokenizers::Tokenizer::from_bytes(json).map_err(|e| Failure::bad_data(e.to_string()))?;
    if matches!(library.get_model(), ModelWrapper::BPE(bpe) if bpe.dropout.is_some_and(|p| p > 0.0)) {
        return Err(Failure::unsupported("model with dropout, expected one that always gives the same ids"));
    }
    let decode = decode_kind(&library)?;
    let added = added_tokens(&library);
    let normalize = |literal: &str| {
        let mut text = NormalizedString::from(literal);
        if let Some(normalizer) = library.get_normalizer() {
            let _ = normalizer.normalize(&mut text);
        }
        text.get().to_owned()
    };
    let sets = AddedTokens::new(added.values().cloned().collect(), normalize)?;
    Ok(Tokenizer { added: sets, pipeline: Pipeline::Json(JsonPipeline { library, added, decode }) })
}

fn added_tokens(library: &tokenizers::Tokenizer) -> BTreeMap<u32, AddedToken> {
    let convert = |(id, token): (u32, tokenizers::AddedToken)| {
        let added = AddedToken {
            id: id as i32,
            literal: token.content,
            control: token.special,
            single_word: token.single_word,
            lstrip: token.lstrip,
            rstrip: token.rstrip,
            normalized: token.normalized,
        };
        (id, added)
    };
    library.get_added_tokens_decoder().into_iter().map(convert).collect()
}

fn decode_kind(library: &tokenizers::Tokenizer) -> Result<Decode, Failure> {
    let decoder = serde_json::to_value(library.get_decoder()).map_err(|e| Failure::internal(e.to_string()))?;
    let mut steps = vec![&decoder];
    if let Some(Value::Array(list)) = decoder.get("decoders") {
        steps = list.iter().collect();
    }
    let names: Vec<_> = steps.iter().map(|s| s.get("type").and_then(Value::as_str).unwrap_or("none")).collect();
    if names.contains(&"ByteLevel") {
        return Ok(Decode::ByteLevel);
    }
    if names.iter().all(|n| matches!(*n, "Replace" | "ByteFallback" | "Fuse" | "Strip" | "Metaspace")) {
        let metaspace = steps.iter().any(|s| {
            s.get("type").and_then(Value::as_str) == Some("Metaspace")
                && s.get("prepend_scheme").and_then(Value::as_str) != Some("never")
        });
        return Ok(Decode::SentencePiece { strips_leading_space: metaspace || names.contains(&"Strip") });
    }
    Err(Failure::unsupported(format!("decoder '{}', expected ByteLevel or SentencePiece's", names.join(", "))))
}

impl JsonPipeline {
    pub fn encode(&self, text: &str, parts: &[Segment], normalized: &AddedSet) -> Result<Vec<i32>, Failure> {
        self.run(text, parts, normalized).map_err(|e| Failure::bad_data(e.to_string()))
    }

    fn run(&self, text: &str, parts: &[Segment], normalized: &AddedSet) -> tokenizers::Result<Vec<i32>> {
        let mut pieces = PreTokenizedString::from(text);
        pieces.split(|_, whole| cut(&whole, parts))?;
        pieces.split(|_, mut piece| {
            if let Some(normalizer) = self.library.get_normalizer() {
                normalizer.normalize(&mut piece)?;
            }
            if normalized.is_empty() {
                return Ok(vec![(piece, None)]);
            }
            let inner = normalized.segments(piece.get());
            cut(&piece, &inner)
        })?;
        if let Some(pre_tokenizer) = self.library.get_pre_tokenizer() {
            pre_tokenizer.pre_tokenize(&mut pieces)?;
        }
        pieces.tokenize(|piece| self.library.get_model().tokenize(piece.get()))?;
        let splits = pieces.get_splits(OffsetReferential::Original, OffsetType::Byte);
        let tokens = splits.iter().filter_map(|(_, _, tokens)| tokens.as_ref()).flatten();
        Ok(tokens.map(|t| t.id as i32).collect())
    }

    pub fn size(&self) -> usize {
        let end = self.added.keys().next_back().map_or(0, |id| *id as usize + 1);
        self.library.get_vocab_size(false).max(end)
    }

    pub fn token(&self, id: u32) -> Option<(String, u8)> {
        if let Some(added) = self.added.get(&id) {
            return Some((added.literal.clone(), if added.control { 3 } else { 4 }));
        }
        let literal = self.library.get_model().id_to_token(id)?;
        let is_byte = matches!(self.decode, Decode::SentencePiece { .. }) && is_byte_literal(&literal);
        Some((literal, if is_byte { 6 } else { 1 }))
    }

    /// What the post-processor puts in front of a text; asked with a text of one made token.
    pub fn leading_special(&self) -> Option<u32> {
        let text = Encoding::from_tokens(vec![Token::new(0, "x".to_owned(), (0, 1))], 0);
        let processed = self.library.get_post_processor()?.process(text, None, true).ok()?;
        let is_special = *processed.get_special_tokens_mask().first()? == 1;
        is_special.then_some(*processed.get_ids().first()?)
    }

    pub fn decode_kind(&self) -> Decode {
        self.decode
    }
}

fn is_byte_literal(literal: &str) -> bool {
    let digits = literal.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    digits.is_some_and(|d| d.len() == 2 && d.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn cut(whole: &NormalizedString, parts: &[Segment]) -> tokenizers::Result<Vec<Split>> {
    let slice = |part: &Segment| {
        let piece = whole.slice(Range::Normalized(part.start..part.end)).ok_or("bad split")?;
        let token = part.id.map(|id| {
            let literal = piece.get().to_owned();
            let size = literal.len();
            vec![Token::new(id as u32, literal, (0, size))]
        });
        Ok((piece, token))
    };
    parts.iter().map(slice).collect()
}
