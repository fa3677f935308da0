//! Methods of Python's built-in types: those of minijinja-contrib and what it lacks.

use minijinja::value::{from_args, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};

/// Widest text that a padding method or filter makes.
const WIDTH_MAX: usize = 1 << 20;

pub fn call(state: &State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let own = match value.kind() {
        ValueKind::String => string_method(value.as_str().unwrap_or_default(), method, args)?,
        ValueKind::Seq => list_method(value, method, args)?,
        ValueKind::Map if method == "copy" => Some(value.clone()),
        _ => None,
    };
    match own {
        Some(result) => Ok(result),
        None => minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args),
    }
}

fn invalid(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, what.into())
}

fn list_method(value: &Value, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    match method {
        "copy" => Ok(Some(value.clone())),
        "index" => {
            let (wanted,): (Value,) = from_args(args)?;
            let at = value.try_iter()?.position(|item| item == wanted);
            at.map(|i| Some(Value::from(i))).ok_or_else(|| invalid(format!("{wanted} is not in list")))
        }
        _ => Ok(None),
    }
}

fn string_method(s: &str, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    let result = match method {
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(s.strip_prefix(prefix).unwrap_or(s))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(s.strip_suffix(suffix).unwrap_or(s))
        }
        "partition" => {
            let (separator,): (&str,) = from_args(args)?;
            let (before, after) = s.split_once(separator).unwrap_or((s, ""));
            partition(before, separator, after, before.len() < s.len())
        }
        "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            let found = s.rsplit_once(separator);
            let (before, after) = found.unwrap_or(("", s));
            partition(before, separator, after, found.is_some())
        }
        "index" | "rindex" => {
            let (part,): (&str,) = from_args(args)?;
            let at = if method == "index" { s.find(part) } else { s.rfind(part) };
            let at = at.ok_or_else(|| invalid("substring not found"))?;
            Value::from(s[..at].chars().count())
        }
        "rsplit" => rsplit(s, args)?,
        "casefold" => Value::from(s.to_lowercase().replace('ß', "ss")),
        "swapcase" => Value::from(s.chars().map(swap_case).collect::<String>()),
        "isspace" => Value::from(!s.is_empty() && s.chars().all(char::is_whitespace)),
        "islower" => Value::from(s.chars().any(char::is_lowercase) && !s.chars().any(char::is_uppercase)),
        "isupper" => Value::from(s.chars().any(char::is_uppercase) && !s.chars().any(char::is_lowercase)),
        "zfill" => {
            let (width,): (usize,) = from_args(args)?;
            let digits = s.strip_prefix(['+', '-']).unwrap_or(s);
            let sign = &s[..s.len() - digits.len()];
            Value::from(format!("{sign}{}{digits}", fill(width, s, '0')?))
        }
        "ljust" | "rjust" | "center" => {
            let (width, with): (usize, Option<&str>) = from_args(args)?;
            let with = with.and_then(|w| w.chars().next()).unwrap_or(' ');
            Value::from(justify(s, width, with, method)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(result))
}

fn partition(before: &str, separator: &str, after: &str, found: bool) -> Value {
    strings(&[before, if found { separator } else { "" }, after])
}

fn strings(parts: &[&str]) -> Value {
    parts.iter().map(|part| Value::from(*part)).collect()
}

fn rsplit(s: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, most): (Option<&str>, Option<i64>) = from_args(args)?;
    let limit = most.and_then(|m| usize::try_from(m).ok()).map_or(usize::MAX, |m| m.saturating_add(1));
    let mut parts: Vec<&str> = match separator {
        Some("") => return Err(invalid("empty separator")),
        Some(separator) => s.rsplitn(limit, separator).collect(),
        None => s.trim().rsplitn(limit, char::is_whitespace).filter(|p| !p.is_empty()).collect(),
    };
    parts.reverse();
    Ok(strings(&parts))
}

fn swap_case(c: char) -> char {
    if c.is_uppercase() {
        return c.to_lowercase().next().unwrap_or(c);
    }
    c.to_uppercase().next().unwrap_or(c)
}

fn fill(width: usize, s: &str, with: char) -> Result<String, Error> {
    if width > WIDTH_MAX {
        return Err(invalid(format!("width {width} passes {WIDTH_MAX}")));
    }
    Ok(std::iter::repeat_n(with, width.saturating_sub(s.chars().count())).collect())
}

pub fn justify(s: &str, width: usize, with: char, method: &str) -> Result<String, Error> {
    let padding = fill(width, s, with)?;
    let total = padding.chars().count();
    let left = match method {
        "ljust" => 0,
        "rjust" => total,
        // CPython gives the odd one to the left when the width is odd.
        _ => total / 2 + (total & width & 1),
    };
    let side = |count: usize| padding.chars().take(count).collect::<String>();
    Ok(format!("{}{s}{}", side(left), side(total - left)))
}
