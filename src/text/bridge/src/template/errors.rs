//! Template errors as one line: where, which construct, what.

use crate::ffi::{Failure, PlStatus};
use minijinja::Error;
use std::error::Error as StdError;
use std::fmt;

/// Longest piece of the template that an error quotes, in characters.
const QUOTE_MAX: usize = 60;

/// What `raise_exception` was called with.
#[derive(Debug)]
pub struct Raised(pub String);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Raised {}

pub fn failure(message: impl Into<String>) -> Failure {
    Failure::new(PlStatus::Template, message)
}

/// The text of `raise_exception`, or line, construct and reason of the innermost error.
pub fn describe(error: &Error) -> Failure {
    let mut innermost = error;
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(raised) = cause.downcast_ref::<Raised>() {
            return failure(raised.0.clone());
        }
        if let Some(inner) = cause.downcast_ref::<Error>() {
            innermost = inner;
        }
        next = cause.source();
    }
    let reason = match innermost.detail() {
        Some(detail) => format!("{}: {detail}", innermost.kind()),
        None => innermost.kind().to_string(),
    };
    let place = if innermost.line().is_some() { innermost } else { error };
    failure(format!("line {}{}: {reason}", place.line().unwrap_or(0), quote(place)))
}

fn quote(error: &Error) -> String {
    let Some(text) = error.range().and_then(|range| error.template_source()?.get(range)) else {
        return String::new();
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(QUOTE_MAX).collect();
    let more = if short.len() < line.len() { "..." } else { "" };
    if short.is_empty() {
        return short;
    }
    format!(", at `{short}{more}`")
}
