//! Filters, tests and functions that transformers adds or that Jinja does differently.

use super::errors::Raised;
use super::methods::justify;
use super::numbers;
use super::python::to_str;
use super::tojson::tojson;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

pub fn register(environment: &mut Environment<'static>) {
    minijinja_contrib::add_to_environment(environment);
    environment.add_filter("tojson", tojson);
    environment.add_filter("string", |value: &Value| to_str(value));
    environment.add_filter("length", length);
    environment.add_filter("count", length);
    environment.add_filter("join", join);
    environment.add_filter("int", numbers::int);
    environment.add_filter("round", numbers::round);
    environment.add_filter("sum", numbers::sum);
    environment.add_filter("replace", replace);
    environment.add_filter("center", |text: &str, width: Option<usize>| center(text, width));
    environment.add_filter("wordcount", |text: &str| text.split_whitespace().count());
    environment.add_filter("title", title);
    for name in ["escape", "e", "forceescape"] {
        environment.add_filter(name, escape);
    }
    environment.add_test("iterable", is_iterable);
    environment.add_test("sequence", is_sequence);
    environment.add_test("number", |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool));
    environment.add_test("callable", |value: &Value| value.kind() == ValueKind::Plain);
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

/// Whatever has a length and items.
fn is_sequence(value: &Value) -> bool {
    use ValueKind::{Map, Seq, String, Undefined};
    matches!(value.kind(), Map | Seq | String | Undefined)
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

/// `join(iterable, d='', attribute=None)`
fn join(value: &Value, separator: Option<&Value>, named: Kwargs) -> Result<String, Error> {
    let mut out = String::new();
    let separator = match separator {
        Some(separator) => to_str(separator)?,
        None => named.get::<Option<String>>("d")?.unwrap_or_default(),
    };
    let attribute: Option<&str> = named.get("attribute")?;
    named.assert_all_used()?;
    if value.is_undefined() {
        return Ok(out);
    }
    for (i, item) in value.try_iter()?.enumerate() {
        if i > 0 {
            out.push_str(&separator);
        }
        match attribute {
            Some(name) => out.push_str(&to_str(&item.get_attr(name)?)?),
            None => out.push_str(&to_str(&item)?),
        }
    }
    Ok(out)
}

fn replace(value: &Value, from: &str, to: &str, count: Option<usize>) -> Result<String, Error> {
    let text = to_str(value)?;
    Ok(match count {
        Some(count) => text.replacen(from, to, count),
        None => text.replace(from, to),
    })
}

fn center(text: &str, width: Option<usize>) -> Result<String, Error> {
    justify(text, width.unwrap_or(80), ' ', "center")
}

/// Words begin behind white space and opening marks, not behind apostrophes.
fn title(value: &Value) -> Result<String, Error> {
    let mut out = String::new();
    let mut starts = true;
    for c in to_str(value)?.chars() {
        match starts {
            true => out.extend(c.to_uppercase()),
            false => out.extend(c.to_lowercase()),
        }
        starts = c.is_whitespace() || "-({[<".contains(c);
    }
    Ok(out)
}

fn escape(value: &Value) -> Result<Value, Error> {
    let mut out = String::new();
    for c in to_str(value)?.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    Ok(Value::from_safe_string(out))
}
