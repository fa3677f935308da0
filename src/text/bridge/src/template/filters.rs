//! Filters and functions that transformers adds or that Python does differently.

use super::errors::Raised;
use super::python::to_str;
use super::tojson::tojson;
use minijinja::{Environment, Error, ErrorKind, Value};

pub fn register(environment: &mut Environment<'static>) {
    environment.add_filter("tojson", tojson);
    environment.add_filter("string", |value: &Value| to_str(value));
    environment.add_filter("length", length);
    environment.add_filter("count", length);
    environment.add_filter("join", join);
    environment.add_test("iterable", is_iterable);
    environment.add_function("raise_exception", raise_exception);
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    let text = to_str(message)?;
    Err(Error::new(ErrorKind::InvalidOperation, text.clone()).with_source(Raised(text)))
}

/// Undefined and strings are, None is not.
fn is_iterable(value: &Value) -> bool {
    value.is_undefined() || value.as_str().is_some() || (!value.is_none() && value.try_iter().is_ok())
}

/// An undefined value has no elements.
fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    let unsized_value = || {
        let what = format!("object of type {} has no length", value.kind());
        Error::new(ErrorKind::InvalidOperation, what)
    };
    value.len().ok_or_else(unsized_value)
}

fn join(value: &Value, separator: Option<&str>, attribute: Option<&str>) -> Result<String, Error> {
    let mut out = String::new();
    if value.is_undefined() {
        return Ok(out);
    }
    for (i, item) in value.try_iter()?.enumerate() {
        if i > 0 {
            out.push_str(separator.unwrap_or_default());
        }
        match attribute {
            Some(name) => out.push_str(&to_str(&item.get_attr(name)?)?),
            None => out.push_str(&to_str(&item)?),
        }
    }
    Ok(out)
}
