//! `tojson` as Python's `json.dumps` writes it: no HTML escapes, spaces behind separators, key order kept.

use super::python::{float, to_str, too_deep, DEPTH_MAX};
use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, Value};

struct Style {
    ensure_ascii: bool,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    sort_keys: bool,
}

pub fn tojson(value: &Value, positional: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let argument = |index: usize, name: &str| -> Result<Option<Value>, Error> {
        let found = match positional.get(index) {
            Some(value) => Some(value.clone()),
            None => named.get::<Option<Value>>(name)?,
        };
        Ok(found.filter(|v| !v.is_none() && !v.is_undefined()))
    };
    let indent = argument(1, "indent")?.map(|v| indent_text(&v)).transpose()?;
    let separators = argument(2, "separators")?;
    let item_default = if indent.is_some() { "," } else { ", " };
    let style = Style {
        ensure_ascii: argument(0, "ensure_ascii")?.is_some_and(|v| v.is_true()),
        item_separator: separator(&separators, 0, item_default)?,
        key_separator: separator(&separators, 1, ": ")?,
        sort_keys: argument(3, "sort_keys")?.is_some_and(|v| v.is_true()),
        indent,
    };
    named.assert_all_used()?;
    let mut out = String::new();
    style.write(&mut out, value, 0)?;
    Ok(out)
}

fn indent_text(value: &Value) -> Result<String, Error> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    let count = i64::try_from(value.clone())?.clamp(0, 64);
    Ok(" ".repeat(count as usize))
}

fn separator(pair: &Option<Value>, index: usize, default: &str) -> Result<String, Error> {
    match pair {
        None => Ok(default.to_owned()),
        Some(pair) => Ok(pair.get_item_by_index(index)?.to_string()),
    }
}

impl Style {
    fn write(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(too_deep());
        }
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&number(value)),
            ValueKind::String => self.write_string(out, value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => self.write_list(out, value, depth)?,
            ValueKind::Map => self.write_map(out, value, depth)?,
            kind => {
                let what = format!("tojson: {kind} is not JSON serializable");
                return Err(Error::new(ErrorKind::InvalidOperation, what));
            }
        }
        Ok(())
    }

    fn write_list(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        let items: Vec<_> = value.try_iter()?.collect();
        out.push('[');
        for (i, item) in items.iter().enumerate() {
            self.start_item(out, i, depth);
            self.write(out, item, depth + 1)?;
        }
        self.end_items(out, items.is_empty(), depth);
        out.push(']');
        Ok(())
    }

    fn write_map(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        let mut keys: Vec<_> = value.try_iter()?.collect();
        if self.sort_keys {
            keys.sort();
        }
        out.push('{');
        for (i, key) in keys.iter().enumerate() {
            self.start_item(out, i, depth);
            self.write_string(out, &key_text(key)?);
            out.push_str(&self.key_separator);
            self.write(out, &value.get_item(key)?, depth + 1)?;
        }
        self.end_items(out, keys.is_empty(), depth);
        out.push('}');
        Ok(())
    }

    fn start_item(&self, out: &mut String, index: usize, depth: usize) {
        if index > 0 {
            out.push_str(&self.item_separator);
        }
        self.new_line(out, depth + 1);
    }

    fn end_items(&self, out: &mut String, empty: bool, depth: usize) {
        if !empty {
            self.new_line(out, depth);
        }
    }

    fn new_line(&self, out: &mut String, depth: usize) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            (0..depth).for_each(|_| out.push_str(indent));
        }
    }

    fn write_string(&self, out: &mut String, text: &str) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if c < ' ' => write_escape(out, c),
                // U+FDD0 guards literals and must reach the tokenizer.
                c if self.ensure_ascii && c > '~' && c != '\u{FDD0}' => write_escape(out, c),
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

fn write_escape(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    match float(value).as_str() {
        "nan" => "NaN".to_owned(),
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        text => text.to_owned(),
    }
}

fn key_text(key: &Value) -> Result<String, Error> {
    match key.kind() {
        ValueKind::None => Ok("null".to_owned()),
        ValueKind::Bool => Ok(key.to_string().to_lowercase()),
        ValueKind::Number => Ok(number(key)),
        _ => to_str(key),
    }
}
