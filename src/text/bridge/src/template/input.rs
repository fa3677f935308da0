//! The variables of a rendering.

use super::data::from_json;
use super::time;
use crate::ffi::Failure;
use minijinja::Value;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

pub struct RenderInput<'a> {
    pub messages: &'a str,
    pub tools: &'a str,
    pub extra: &'a str,
    pub bos_token: &'a str,
    pub eos_token: &'a str,
    pub unix_time: i64,
    pub add_generation_prompt: bool,
}

/// Names under which the reasoning of a message is passed; the first is the one that templates read.
const REASONING_KEYS: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

impl RenderInput<'_> {
    /// As transformers builds them: extra variables may replace the special tokens, nothing else.
    pub fn context(&self) -> Result<Value, Failure> {
        let mut variables: BTreeMap<String, Value> = BTreeMap::new();
        variables.insert("bos_token".into(), Value::from(self.bos_token));
        variables.insert("eos_token".into(), Value::from(self.eos_token));
        variables.insert("documents".into(), Value::from(()));
        if !self.extra.is_empty() {
            for (name, value) in parse_object(self.extra)? {
                variables.insert(name, from_json(value));
            }
        }
        let tools = if self.tools.is_empty() { Json::Null } else { parse("tools", self.tools)? };
        variables.insert("tools".into(), from_json(tools));
        variables.insert("messages".into(), from_json(parse_messages(self.messages)?));
        variables.insert("add_generation_prompt".into(), Value::from(self.add_generation_prompt));
        variables.insert("strftime_now".into(), time::strftime_now(self.unix_time));
        Ok(Value::from_iter(variables))
    }
}

fn parse(what: &str, text: &str) -> Result<Json, Failure> {
    serde_json::from_str(text).map_err(|e| Failure::bad_argument(format!("{what}: {e}")))
}

fn parse_object(text: &str) -> Result<Map<String, Json>, Failure> {
    match parse("variables", text)? {
        Json::Object(map) => Ok(map),
        _ => Err(Failure::bad_argument("variables: not an object")),
    }
}

fn parse_messages(text: &str) -> Result<Json, Failure> {
    let Json::Array(messages) = parse("messages", text)? else {
        return Err(Failure::bad_argument("messages: not an array"));
    };
    Ok(Json::Array(messages.into_iter().map(normalize_message).collect()))
}

/// Keys without a value are left out, and reasoning is found under the names that templates know.
fn normalize_message(message: Json) -> Json {
    let Json::Object(mut map) = message else { return message };
    map.retain(|_, value| !value.is_null());
    let Some(reasoning) = REASONING_KEYS.iter().find_map(|key| map.get(*key)).cloned() else {
        return Json::Object(map);
    };
    map.entry("thinking").or_insert_with(|| reasoning.clone());
    map.insert("reasoning_content".into(), reasoning);
    Json::Object(map)
}
