//! Number filters as Jinja has them.

use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, State, Value};

/// `int(value, default=0, base=10)`
pub fn int(value: &Value, default: Option<i64>, base: Option<u32>) -> Result<Value, Error> {
    let default = Value::from(default.unwrap_or(0));
    let base = base.unwrap_or(10);
    if !matches!(base, 2 | 8 | 10 | 16) {
        return Err(Error::new(ErrorKind::InvalidOperation, format!("int: base {base}, expected 2, 8, 10 or 16")));
    }
    let Some(text) = value.as_str() else {
        return Ok(whole(value).unwrap_or(default));
    };
    let text = text.trim().replace('_', "");
    let digits = match base {
        16 => text.strip_prefix("0x").unwrap_or(&text),
        8 => text.strip_prefix("0o").unwrap_or(&text),
        2 => text.strip_prefix("0b").unwrap_or(&text),
        _ => &text,
    };
    if let Ok(number) = i128::from_str_radix(digits, base) {
        return Ok(Value::from(number));
    }
    Ok(text.parse::<f64>().ok().and_then(truncated).unwrap_or(default))
}

fn whole(value: &Value) -> Option<Value> {
    if value.is_integer() {
        return Some(value.clone());
    }
    if let Ok(flag) = bool::try_from(value.clone()) {
        return Some(Value::from(i64::from(flag)));
    }
    truncated(f64::try_from(value.clone()).ok()?)
}

fn truncated(number: f64) -> Option<Value> {
    // Past 2^127 Python has big integers and this has none.
    (number.abs() < 1e38).then(|| Value::from(number as i128))
}

/// `round(value, precision=0, method='common')`; halves go to the even neighbour as in Python.
pub fn round(value: &Value, precision: Option<i32>, method: Option<&str>) -> Result<Value, Error> {
    let number = f64::try_from(value.clone())?;
    let precision = precision.unwrap_or(0).clamp(-300, 300);
    let factor = 10f64.powi(precision);
    let result = match method.unwrap_or("common") {
        "common" if (0..=17).contains(&precision) => {
            format!("{number:.*}", precision as usize).parse().unwrap_or(number)
        }
        "common" => (number * factor).round_ties_even() / factor,
        "ceil" => (number * factor).ceil() / factor,
        "floor" => (number * factor).floor() / factor,
        other => return Err(Error::new(ErrorKind::InvalidOperation, format!("round: method '{other}'"))),
    };
    Ok(Value::from(result))
}

/// `sum(iterable, attribute=None, start=0)`
pub fn sum(state: &State, value: &Value, named: Kwargs) -> Result<Value, Error> {
    let attribute: Option<&str> = named.get("attribute")?;
    let start: Option<Value> = named.get("start")?;
    named.assert_all_used()?;
    let adder = state.env().compile_expression("a + b")?;
    let mut total = start.unwrap_or_else(|| Value::from(0));
    if value.is_undefined() {
        return Ok(total);
    }
    for item in value.try_iter()? {
        let item = match attribute {
            Some(name) => item.get_attr(name)?,
            None => item,
        };
        total = adder.eval(minijinja::context! { a => total, b => item })?;
    }
    Ok(total)
}
