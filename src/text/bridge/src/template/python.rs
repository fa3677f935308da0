//! Values as Python prints them.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Output, State, Value};

/// Deepest nesting that is printed.
pub const DEPTH_MAX: usize = 200;

/// The environment's formatter: `str(value)`.
pub fn format(output: &mut Output, _state: &State, value: &Value) -> Result<(), Error> {
    let written = match value.as_str() {
        Some(text) => output.write_str(text),
        None => output.write_str(&to_str(value)?),
    };
    written.map_err(Error::from)
}

/// `str(value)`
pub fn to_str(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined => Ok(String::new()),
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        _ => {
            let mut out = String::new();
            write_repr(&mut out, value, 0)?;
            Ok(out)
        }
    }
}

pub fn too_deep() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("value nests deeper than {DEPTH_MAX}"))
}

pub fn write_repr(out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
    if depth > DEPTH_MAX {
        return Err(too_deep());
    }
    match value.kind() {
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::String => write_string(out, value.as_str().unwrap_or_default()),
        ValueKind::Number if !value.is_integer() => out.push_str(&float(value)),
        ValueKind::Seq | ValueKind::Iterable => write_list(out, value, depth)?,
        ValueKind::Map => write_map(out, value, depth)?,
        _ => out.push_str(&value.to_string()),
    }
    Ok(())
}

fn write_list(out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
    out.push('[');
    for (i, item) in value.try_iter()?.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_repr(out, &item, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
    out.push('{');
    for (i, key) in value.try_iter()?.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_repr(out, &key, depth + 1)?;
        out.push_str(": ");
        write_repr(out, &value.get_item(&key)?, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn write_string(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push(quote);
}

/// Python's str.isprintable, without the unassigned code points. U+FDD0 passes: it guards literals.
fn is_printable(c: char) -> bool {
    !matches!(u32::from(c),
        0..=0x1F | 0x7F..=0xA0 | 0xAD | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x1680 | 0x180E
        | 0x2000..=0x200F | 0x2028..=0x202F | 0x205F..=0x206F | 0x3000 | 0xE000..=0xF8FF | 0xFEFF
        | 0xFFF9..=0xFFFB | 0xE0000..=0x10FFFF)
}

/// `repr` of a number that is not an integer.
pub fn float(value: &Value) -> String {
    let Ok(number) = f64::try_from(value.clone()) else { return value.to_string() };
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) || number == 0.0 {
        return format!("{number:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
