//! The trust state of tools: values only, stored in files by `mcparley-config`.

use std::fmt;
use std::sync::Arc;

use crate::permission::ToolPin;
use crate::tool::DefinitionChange;

/// The identity of a server for trust in its tools.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrustKey {
    text: Arc<str>,
    identity: Arc<str>,
    /// Whether the server's tools are compared with those first seen. mcparley's own tools change with the
    /// program.
    pub is_pinned: bool,
}

impl TrustKey {
    /// Builds the key of a server: `text` for exactly this server, `identity` for every release of its
    /// package.
    #[must_use]
    pub fn new(text: Arc<str>, identity: Arc<str>, is_pinned: bool) -> Self {
        Self { text, identity, is_pinned }
    }

    /// The key as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The server's identity in rules typed by the user: the same for every release of one package.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }
}

impl fmt::Display for TrustKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The trust state of one tool: whether its definition still is the accepted one.
#[derive(Clone, Debug)]
pub struct ToolTrust {
    /// The server of the tool.
    pub key: TrustKey,
    /// The reaction to changed tools.
    pub pin: ToolPin,
    /// The change of the definition since it was accepted.
    pub change: Option<Arc<DefinitionChange>>,
}

impl ToolTrust {
    /// Whether the tool is withheld until it is reviewed.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.pin == ToolPin::Strict && self.change.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    // H09
    #[test]
    fn key_of_a_server_and_identity_of_its_package_are_kept_apart() {
        let key = TrustKey::new("npx pkg@1.2.3".into(), "npx pkg".into(), true);
        assert_eq!((key.as_str(), key.identity()), ("npx pkg@1.2.3", "npx pkg"));
        assert_eq!(key.to_string(), key.as_str());
    }

    // H09
    #[test]
    fn only_a_changed_tool_under_a_strict_pin_is_withheld() {
        let key = TrustKey::new("k".into(), "k".into(), true);
        let change = DefinitionChange { old: String::new(), new: "x".to_owned(), lines: Vec::new(), more: 0 };
        let change = Some(Arc::new(change));
        for (pin, change, withheld) in [
            (ToolPin::Strict, change.clone(), true),
            (ToolPin::Strict, None, false),
            (ToolPin::Warn, change, false),
        ] {
            let trust = ToolTrust { key: key.clone(), pin, change };
            assert_eq!(trust.is_withheld(), withheld, "{trust:?}");
        }
    }
}
