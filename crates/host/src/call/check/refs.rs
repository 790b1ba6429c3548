//! Finds what a schema's references point at, within the schema: nothing else is ever looked at (H25).

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The keywords that refer to another part for the same value.
const KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// What the references of one schema point at.
pub(crate) struct Refs<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
}

impl<'s> Refs<'s> {
    pub(crate) fn new(root: &'s Value) -> Self {
        let mut anchors = HashMap::new();
        each_object(root, &mut |members, value| {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                    anchors.insert(name, value);
                }
            }
        });
        Self { root, anchors }
    }

    /// What `members` refer to; the reference itself when it leads out of the schema or nowhere.
    pub(crate) fn targets(&self, members: &'s Map<String, Value>) -> Result<Vec<&'s Value>, &'s str> {
        of(members).map(|reference| self.resolve(reference).ok_or(reference)).collect()
    }

    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        let own = self.root.get("$id").or_else(|| self.root.get("id")).and_then(Value::as_str);
        let base = own.map(|own| own.trim_end_matches('#')).filter(|own| !own.is_empty());
        let local = base.and_then(|base| reference.strip_prefix(base)).unwrap_or(reference);
        if local.is_empty() {
            return Some(self.root);
        }
        let fragment = percent_decoded(local.strip_prefix('#')?)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment);
        }
        self.anchors.get(fragment.as_str()).copied()
    }
}

/// Whether a schema refers to anything.
pub(super) fn any(schema: &Value) -> bool {
    let mut found = false;
    each_object(schema, &mut |members, _| found |= of(members).next().is_some());
    found
}

/// Calls `see` for every object within `value`. The value was read with a limit of its depth.
pub(super) fn each_object<'s>(value: &'s Value, see: &mut impl FnMut(&'s Map<String, Value>, &'s Value)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Array(elements) => elements.iter().for_each(|element| each_object(element, see)),
        Value::Object(members) => {
            see(members, value);
            members.values().for_each(|member| each_object(member, see));
        }
    }
}

fn of(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    KEYWORDS.into_iter().filter_map(|keyword| members.get(keyword).and_then(Value::as_str))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}
