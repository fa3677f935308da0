//! The tokenizer part of `bridge.h`.

use super::gguf::GgufVocab;
use super::json::{self, Decode};
use super::{Mode, Tokenizer};
use crate::ffi::{catch, fence, slice_or_empty, Failure, PlBuffer, PlBytes, PlIds, PlStatus};

#[repr(C)]
pub struct PlVocab {
    tokens: *const PlBytes,
    types: *const u8,
    token_count: usize,
    merges: *const PlBytes,
    merge_count: usize,
    scores: *const f64,
    splits: *const PlBytes,
    split_count: usize,
    unknown: i32,
    byte_level: u8,
    escape_spaces: u8,
    prefix_space: u8,
    ignore_merges: u8,
}

impl PlVocab {
    unsafe fn view(&self) -> Result<GgufVocab<'_>, Failure> {
        let list = |data, count| slice_or_empty::<PlBytes>(data, count).iter().map(|b| b.as_slice()).collect();
        let splits = slice_or_empty(self.splits, self.split_count);
        Ok(GgufVocab {
            tokens: list(self.tokens, self.token_count),
            types: slice_or_empty(self.types, self.token_count),
            merges: list(self.merges, self.merge_count),
            scores: (!self.scores.is_null()).then(|| slice_or_empty(self.scores, self.token_count)),
            splits: splits.iter().map(|b| b.as_str("split")).collect::<Result<_, _>>()?,
            unknown: usize::try_from(self.unknown).ok(),
            byte_level: self.byte_level != 0,
            escape_spaces: self.escape_spaces != 0,
            prefix_space: self.prefix_space != 0,
            ignore_merges: self.ignore_merges != 0,
        })
    }
}

fn into_handle(tokenizer: Tokenizer) -> *mut Tokenizer {
    Box::into_raw(Box::new(tokenizer))
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_from_json(
    json: PlBytes,
    out: *mut *mut Tokenizer,
    error: *mut PlBuffer,
) -> PlStatus {
    fence(out, error, || json::build(json.as_slice()).map(into_handle))
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_from_vocab(
    vocab: *const PlVocab,
    out: *mut *mut Tokenizer,
    error: *mut PlBuffer,
) -> PlStatus {
    fence(out, error, || (*vocab).view()?.build().map(into_handle))
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_free(tokenizer: *mut Tokenizer) {
    if !tokenizer.is_null() {
        drop(Box::from_raw(tokenizer));
    }
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_encode(
    tokenizer: *const Tokenizer,
    text: PlBytes,
    mode: i32,
    out: *mut PlIds,
    error: *mut PlBuffer,
) -> PlStatus {
    let mode = match mode {
        1 => Mode::Parse,
        2 => Mode::Guarded,
        _ => Mode::Plain,
    };
    fence(out, error, || (*tokenizer).encode(text.as_str("text")?, mode).map(PlIds::new))
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_guard(
    tokenizer: *const Tokenizer,
    text: PlBytes,
    out: *mut PlBuffer,
    error: *mut PlBuffer,
) -> PlStatus {
    fence(out, error, || {
        let guarded = (*tokenizer).guard(text.as_str("text")?)?;
        Ok(PlBuffer::new(guarded.into_bytes()))
    })
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_size(tokenizer: *const Tokenizer) -> usize {
    (*tokenizer).json().map_or(0, |json| json.size())
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_token(
    tokenizer: *const Tokenizer,
    id: u32,
    literal: *mut PlBuffer,
    kind: *mut u8,
    error: *mut PlBuffer,
) -> PlStatus {
    let mut found = 0;
    let status = fence(literal, error, || {
        let (text, token_type) = (*tokenizer).json().and_then(|json| json.token(id)).unwrap_or_default();
        found = token_type;
        Ok(PlBuffer::new(text.into_bytes()))
    });
    kind.write(found);
    status
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_decode_kind(tokenizer: *const Tokenizer) -> i32 {
    let kind = (*tokenizer).json().map(|json| json.decode_kind());
    i32::from(matches!(kind, Some(Decode::SentencePiece { .. })))
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_strips_leading_space(tokenizer: *const Tokenizer) -> i32 {
    let kind = (*tokenizer).json().map(|json| json.decode_kind());
    i32::from(matches!(kind, Some(Decode::SentencePiece { strips_leading_space: true })))
}

#[no_mangle]
pub unsafe extern "C" fn pl_tokenizer_leading_special(tokenizer: *const Tokenizer) -> i32 {
    let found = catch(|| Ok((*tokenizer).json().and_then(|json| json.leading_special())));
    found.ok().flatten().map_or(-1, |id| id as i32)
}
