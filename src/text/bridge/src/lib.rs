//! Glue between Paceline and the crates that tokenise and render chat templates. The C face is `bridge.h`.

mod ffi;
mod template;
mod tokenizer;
