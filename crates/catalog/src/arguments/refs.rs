//! Resolves the references of a schema, only within the schema itself.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The keywords that refer to another schema part for the same value.
const KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The reference targets of one schema.
pub(crate) struct SchemaRefs<'s> {
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
}

impl<'s> SchemaRefs<'s> {
    pub(crate) fn new(root: &'s Value) -> Self {
        let mut anchors = HashMap::new();
        for_each_object(root, &mut |members, value| {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(name) = members.get(keyword).and_then(Value::as_str) {
                    anchors.insert(name, value);
                }
            }
        });
        Self { root, anchors }
    }

    /// The targets of all references in `members`; the reference itself as error if it leads out of the
    /// schema or nowhere.
    pub(crate) fn targets(&self, members: &'s Map<String, Value>) -> Result<Vec<&'s Value>, &'s str> {
        references_of(members).map(|reference| self.resolve_reference(reference).ok_or(reference)).collect()
    }

    fn resolve_reference(&self, reference: &str) -> Option<&'s Value> {
        let own = self.root.get("$id").or_else(|| self.root.get("id")).and_then(Value::as_str);
        let base = own.map(|own| own.trim_end_matches('#')).filter(|own| !own.is_empty());
        let local = base.and_then(|base| reference.strip_prefix(base)).unwrap_or(reference);
        if local.is_empty() {
            return Some(self.root);
        }
        let fragment = decode_percent(local.strip_prefix('#')?)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment);
        }
        self.anchors.get(fragment.as_str()).copied()
    }
}

/// Whether a schema contains any reference.
#[cfg(feature = "schema")]
pub(super) fn has_references(schema: &Value) -> bool {
    let mut found = false;
    for_each_object(schema, &mut |members, _| found |= references_of(members).next().is_some());
    found
}

/// Calls `see` for every object within `value`. Recursion is safe: the parser has limited the nesting.
pub(super) fn for_each_object<'s>(value: &'s Value, see: &mut impl FnMut(&'s Map<String, Value>, &'s Value)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Array(elements) => elements.iter().for_each(|element| for_each_object(element, see)),
        Value::Object(members) => {
            see(members, value);
            members.values().for_each(|member| for_each_object(member, see));
        }
    }
}

fn references_of(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    KEYWORDS.into_iter().filter_map(|keyword| members.get(keyword).and_then(Value::as_str))
}

fn decode_percent(text: &str) -> Option<String> {
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
