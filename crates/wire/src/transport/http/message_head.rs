//! The parts of a message that are repeated in headers, so that a gateway can route it without parsing
//! (SEP-2243).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::ProtocolVersion;

/// Prefix of the header of an argument.
pub(super) const PARAM: &str = "mcp-param-";

/// The routing fields of a message of ours.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::transport) struct MessageHead {
    /// The method; `None` for responses.
    pub(super) method: Option<String>,
    /// The name, URI or task id that the method applies to.
    pub(super) name: Option<String>,
    /// Whether it is a request of the new era, by its `_meta`.
    pub(super) is_new: bool,
    /// The arguments that are repeated in headers.
    pub(super) params: Vec<(HeaderName, HeaderValue)>,
}

impl MessageHead {
    /// Parses one of our own messages. A missing field has no header.
    pub(in crate::transport) fn from_message(message: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct HeadMessage<'m> {
            method: Option<String>,
            #[serde(borrow)]
            params: Option<&'m RawValue>,
        }
        // Unknown methods may use these names for other values.
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct HeadParams<'m> {
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
        struct HeadMeta {
            #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
            version: Option<String>,
        }
        let HeadMessage { method, params } = serde_json::from_slice(message).unwrap_or_default();
        let HeadParams { name, uri, task, meta } = decode_raw(params).unwrap_or_default();
        let name = match method.as_deref() {
            Some("tools/call" | "prompts/get") => decode_raw(name),
            Some("resources/read") => decode_raw(uri),
            Some("tasks/get" | "tasks/update" | "tasks/cancel") => decode_raw(task),
            Some(_) | None => None,
        };
        let HeadMeta { version } = decode_raw(meta).unwrap_or_default();
        let is_new = version.is_some_and(|version| version == ProtocolVersion::NEW.as_str());
        Self { method, name, is_new, params: Vec::new() }
    }

    /// Adds the caller's argument headers. No other header can be set that way.
    pub(super) fn with_params(mut self, params: Vec<(String, String)>) -> Self {
        let params = params.into_iter().filter_map(|(name, text)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, header_value(&text)?))
        });
        self.params = params.filter(|(name, _)| name.as_str().starts_with(PARAM)).collect();
        self
    }

    /// Whether the message is this request or notification.
    pub(in crate::transport) fn is_method(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }
}

fn decode_raw<'m, T: Deserialize<'m>>(raw: Option<&'m RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Encodes text as a header value; base64 for characters that headers cannot carry.
pub(super) fn header_value(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim() == text
        && !text.is_empty()
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let sent = if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::from_str(&sent).ok()
}

#[cfg(test)]
mod tests {
    use super::{MessageHead, header_value};

    #[test]
    fn message_head_has_method_target_and_era() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let call = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"uri":"u"}},{meta}}}}}"#
        );
        let head = MessageHead {
            method: Some("tools/call".into()),
            name: Some("a".into()),
            is_new: true,
            ..MessageHead::default()
        };
        assert_eq!(MessageHead::from_message(call.as_bytes()), head);
        let read = br#"{"id":1,"method":"resources/read","params":{"uri":"x:y"}}"#;
        let head = MessageHead {
            method: Some("resources/read".into()),
            name: Some("x:y".into()),
            ..MessageHead::default()
        };
        assert_eq!(MessageHead::from_message(read), head);
        assert_eq!(MessageHead::from_message(br#"{"id":1,"result":{"method":"a"}}"#), MessageHead::default());
        let task = br#"{"id":1,"method":"tasks/get","params":{"taskId":"t"}}"#;
        assert_eq!(MessageHead::from_message(task).name.as_deref(), Some("t"));
        let strange =
            format!(r#"{{"id":1,"method":"x/y","params":{{"name":5,"uri":[],"taskId":{{}},{meta}}}}}"#);
        let head = MessageHead { method: Some("x/y".into()), is_new: true, ..MessageHead::default() };
        assert_eq!(MessageHead::from_message(strange.as_bytes()), head);
        assert!(MessageHead::from_message(br#"{"method":"x","params":[1]}"#).is_method("x"));
    }

    // B108: the examples of the protocol's page, and what it leaves to us.
    #[test]
    fn value_that_headers_cannot_carry_is_base64_encoded() {
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
            assert_eq!(header_value(text).unwrap().to_str().unwrap(), sent);
        }
    }
}
