//! What of a message stands in the headers too, so that a gateway can route it unread (SEP-2243).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::Version;

/// How the header of an argument begins.
pub(super) const PARAM: &str = "mcp-param-";

/// What a message of ours says about itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::transport) struct Head {
    /// Absent for answers.
    pub(super) method: Option<String>,
    /// What the method is applied to.
    pub(super) name: Option<String>,
    /// Whether it is a request of the new era, which says so itself.
    pub(super) is_new: bool,
    /// Its arguments that stand in headers.
    pub(super) params: Vec<(HeaderName, HeaderValue)>,
}

impl Head {
    /// Reads one of our own messages. What is not there has no header.
    pub(in crate::transport) fn read(message: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Wire<'m> {
            method: Option<String>,
            #[serde(borrow)]
            params: Option<&'m RawValue>,
        }
        // Methods we do not know may have other things under these names.
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Params<'m> {
            #[serde(borrow)]
            name: Option<&'m RawValue>,
            #[serde(borrow)]
            uri: Option<&'m RawValue>,
            #[serde(rename = "taskId", borrow)]
            task: Option<&'m RawValue>,
            #[serde(rename = "_meta", borrow)]
            meta: Option<&'m RawValue>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
            version: Option<String>,
        }
        let Wire { method, params } = serde_json::from_slice(message).unwrap_or_default();
        let Params { name, uri, task, meta } = decode(params).unwrap_or_default();
        let name = match method.as_deref() {
            Some("tools/call" | "prompts/get") => decode(name),
            Some("resources/read") => decode(uri),
            Some("tasks/get" | "tasks/update" | "tasks/cancel") => decode(task),
            Some(_) | None => None,
        };
        let Meta { version } = decode(meta).unwrap_or_default();
        let is_new = version.is_some_and(|version| version == Version::NEW.as_str());
        Self { method, name, is_new, params: Vec::new() }
    }

    /// Adds what its caller wants in headers. No other header can be set that way (H26).
    pub(super) fn with_params(mut self, params: Vec<(String, String)>) -> Self {
        let params = params.into_iter().filter_map(|(name, text)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, value(&text)?))
        });
        self.params = params.filter(|(name, _)| name.as_str().starts_with(PARAM)).collect();
        self
    }

    /// Whether it is this request or notification.
    pub(in crate::transport) fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }
}

fn decode<'m, T: Deserialize<'m>>(raw: Option<&'m RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Text as a header value; what would not survive the way is encoded.
pub(super) fn value(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim() == text
        && !text.is_empty()
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let sent = if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::from_str(&sent).ok()
}

#[cfg(test)]
mod tests {
    use super::{Head, value};

    #[test]
    fn a_message_is_told_by_its_method_its_target_and_its_era() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let call = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"uri":"u"}},{meta}}}}}"#
        );
        let head = Head {
            method: Some("tools/call".into()),
            name: Some("a".into()),
            is_new: true,
            ..Head::default()
        };
        assert_eq!(Head::read(call.as_bytes()), head);
        let read = br#"{"id":1,"method":"resources/read","params":{"uri":"x:y"}}"#;
        let head =
            Head { method: Some("resources/read".into()), name: Some("x:y".into()), ..Head::default() };
        assert_eq!(Head::read(read), head);
        assert_eq!(Head::read(br#"{"id":1,"result":{"method":"a"}}"#), Head::default());
        let task = br#"{"id":1,"method":"tasks/get","params":{"taskId":"t"}}"#;
        assert_eq!(Head::read(task).name.as_deref(), Some("t"));
        let strange =
            format!(r#"{{"id":1,"method":"x/y","params":{{"name":5,"uri":[],"taskId":{{}},{meta}}}}}"#);
        let head = Head { method: Some("x/y".into()), is_new: true, ..Head::default() };
        assert_eq!(Head::read(strange.as_bytes()), head);
        assert!(Head::read(br#"{"method":"x","params":[1]}"#).is("x"));
    }

    // B108: the examples of the protocol's page, and what it leaves to us.
    #[test]
    fn a_value_that_would_not_survive_is_encoded() {
        for (text, sent) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?open", "=?base64?open"),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("a\tb", "=?base64?YQli?="),
            ("", "=?base64??="),
        ] {
            assert_eq!(value(text).unwrap().to_str().unwrap(), sent);
        }
    }
}
