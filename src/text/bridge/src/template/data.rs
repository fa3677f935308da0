//! JSON lists and objects as values that print the way Python prints them, wherever they are printed.

use super::python::write_repr;
use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::Value;
use serde_json::Value as Json;
use std::fmt;
use std::sync::Arc;

#[derive(Debug)]
struct List(Vec<Value>);

#[derive(Debug)]
struct Dict(IndexMap<Arc<str>, Value>);

pub fn from_json(json: Json) -> Value {
    match json {
        Json::Array(items) => Value::from_object(List(items.into_iter().map(from_json).collect())),
        Json::Object(map) => {
            let entry = |(key, value): (String, Json)| (Arc::from(key), from_json(value));
            Value::from_object(Dict(map.into_iter().map(entry).collect()))
        }
        scalar => Value::from_serialize(scalar),
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render(Value::from_dyn_object(self.clone()), f)
    }
}

impl Object for Dict {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.0.get(key).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.keys().map(|key| Value::from(key.clone())).collect())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        !self.0.is_empty()
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render(Value::from_dyn_object(self.clone()), f)
    }
}

fn render(value: Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = String::new();
    write_repr(&mut text, &value, 0).map_err(|_| fmt::Error)?;
    f.write_str(&text)
}
