//! Glue between Paceline and the crates that tokenise and render chat templates. The C face is `bridge.h`.

#![cfg_attr(alloc_error_hook, feature(alloc_error_hook))]

mod ffi;
mod memory;
mod template;
mod tokenizer;
