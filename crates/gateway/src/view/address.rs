//! Addresses of resources that a gateway can route: `tag+URI`, and `ui://tag+rest` for user interfaces.
//!
//! The bytes behind the first `+` are the server's. A tag is a valid URI scheme in lower case, because URL
//! parsers fold schemes.

use std::collections::HashSet;

use mcparley::model::name::ServerName;
use mcparley_wire::RawJson;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::json_edit::{JsonEdit, JsonMembers, array_elements, decode_string, json_string};
use crate::view::{View, ViewServer};

/// The scheme of user interfaces (MCP Apps).
const UI: &str = "ui://";

impl View {
    /// The server of a client's address, and the address at that server.
    pub(crate) fn route_address(&self, uri: &str) -> Option<(&ViewServer, String)> {
        if self.mode.is_transparent() {
            return self.servers.first().map(|server| (server, uri.to_owned()));
        }
        let (scheme, rest) = uri.strip_prefix(UI).map_or(("", uri), |rest| (UI, rest));
        if let Some((tag, rest)) = rest.split_once('+')
            && let Some(server) = self.servers.iter().find(|server| &*server.tag == tag)
        {
            return Some((server, format!("{scheme}{rest}")));
        }
        // Addresses in texts are the server's own.
        let has_it = |server: &&ViewServer| {
            let mut listed = server.surface.resources.iter().chain(&server.surface.skills);
            listed.any(|raw| address_of(raw, "uri").is_some_and(|listed| listed == uri))
        };
        let mut owners = self.servers.iter().filter(has_it);
        let owner = owners.next()?;
        owners.next().is_none().then(|| (owner, uri.to_owned()))
    }

    /// The server of a client's URI template, and the template at that server.
    pub(crate) fn route_template(&self, template: &str) -> Option<(&ViewServer, String)> {
        let has_it = |server: &&ViewServer| {
            let mut listed = server.surface.templates.iter();
            listed.any(|raw| address_of(raw, "uriTemplate").is_some_and(|listed| listed == template))
        };
        self.route_address(template).or_else(|| {
            let mut owners = self.servers.iter().filter(has_it);
            let owner = owners.next()?;
            owners.next().is_none().then(|| (owner, template.to_owned()))
        })
    }
}

/// Whether an address is that of a user interface (MCP Apps).
pub(crate) fn is_user_interface(uri: &str) -> bool {
    uri.starts_with(UI)
}

fn address_of(raw: &RawJson, member: &str) -> Option<String> {
    JsonMembers::parse(raw.as_str())?.text(member)
}

/// The tag of a server: its name if that is a valid scheme, else a name made of it with a hash.
pub(crate) fn server_tag(name: &ServerName, taken: &mut HashSet<String>) -> String {
    let text = name.as_str();
    let is_tag_char =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    let is_tag =
        text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase()) && text.bytes().all(is_tag_char);
    if is_tag && taken.insert(text.to_owned()) {
        return text.to_owned();
    }
    let lower = text.to_lowercase();
    let tame: String =
        lower.chars().map(|it| if it.is_ascii() && is_tag_char(it as u8) { it } else { '-' }).collect();
    let first = if tame.starts_with(|it: char| it.is_ascii_lowercase()) { "" } else { "s" };
    let hash: String =
        Sha256::digest(text.as_bytes()).iter().take(3).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("{first}{tame}.{hash}");
    taken.insert(tag.clone());
    tag
}

/// The address for clients.
pub(crate) fn client_address(tag: &str, uri: &str) -> String {
    match uri.strip_prefix(UI) {
        Some(rest) => format!("{UI}{tag}+{rest}"),
        None => format!("{tag}+{uri}"),
    }
}

/// Rewrites the addresses of list items and results: those that a client may send back, never text.
pub(crate) struct AddressRewriter<'j, 't> {
    pub(crate) edit: JsonEdit<'j>,
    tag: &'t str,
}

impl<'j, 't> AddressRewriter<'j, 't> {
    pub(crate) fn new(text: &'j str, tag: &'t str) -> Self {
        Self { edit: JsonEdit::new(text), tag }
    }

    pub(crate) fn finish(self) -> std::borrow::Cow<'j, str> {
        self.edit.finish()
    }

    /// Rewrites a result of any kind.
    pub(crate) fn rewrite_result(mut self, text: &'j str) -> std::borrow::Cow<'j, str> {
        let Some(members) = JsonMembers::parse(text) else { return self.finish() };
        for (name, value) in members.iter() {
            match name {
                "contents" | "skills" | "resources" => {
                    array_elements(value).into_iter().for_each(|item| self.rewrite_item(item))
                }
                "content" => array_elements(value).into_iter().for_each(|block| self.rewrite_block(block)),
                "messages" => {
                    array_elements(value).into_iter().for_each(|message| self.rewrite_message(message))
                }
                "skill" => self.rewrite_item(value),
                "_meta" => self.rewrite_meta(value),
                _ => {}
            }
        }
        self.finish()
    }

    /// Rewrites an item with an address of its own: a resource, contents, a skill.
    pub(crate) fn rewrite_item(&mut self, item: &'j RawValue) {
        let Some(members) = JsonMembers::parse(item.get()) else { return };
        for (name, value) in members.iter() {
            match name {
                "uri" | "uriTemplate" => self.rewrite_address(value),
                "files" => array_elements(value).into_iter().for_each(|file| self.rewrite_item(file)),
                "_meta" => self.rewrite_meta(value),
                _ => {}
            }
        }
    }

    /// Rewrites the user interface that `_meta` names.
    pub(crate) fn rewrite_meta(&mut self, meta: &'j RawValue) {
        let Some(members) = JsonMembers::parse(meta.get()) else { return };
        if let Some(value) = members.get("ui/resourceUri") {
            self.rewrite_address(value);
        }
        let ui = members.get("ui").and_then(|ui| JsonMembers::parse(ui.get()));
        if let Some(value) = ui.and_then(|ui| ui.get("resourceUri")) {
            self.rewrite_address(value);
        }
    }

    fn rewrite_message(&mut self, message: &'j RawValue) {
        let Some(members) = JsonMembers::parse(message.get()) else { return };
        let Some(content) = members.get("content") else { return };
        match content.get().starts_with('[') {
            true => array_elements(content).into_iter().for_each(|block| self.rewrite_block(block)),
            false => self.rewrite_block(content),
        }
    }

    fn rewrite_block(&mut self, block: &'j RawValue) {
        let Some(members) = JsonMembers::parse(block.get()) else { return };
        match (members.text("type").as_deref(), members.get("resource")) {
            (Some("resource_link"), _) => self.rewrite_item(block),
            (Some("resource"), Some(resource)) => self.rewrite_item(resource),
            _ => {}
        }
    }

    fn rewrite_address(&mut self, value: &'j RawValue) {
        let raw = value.get();
        let Some(inner) = raw.strip_prefix('"') else { return };
        let Some(uri) = decode_string(value) else { return };
        let rewritten = match (uri.starts_with(UI), inner.strip_prefix(UI)) {
            (true, Some(rest)) => format!("\"{UI}{}+{rest}", self.tag),
            // The scheme is written with escapes.
            (true, None) => json_string(&client_address(self.tag, &uri)),
            (false, _) => format!("\"{}+{inner}", self.tag),
        };
        self.edit.replace(value, rewritten);
    }
}

#[cfg(test)]
mod tests {
    //! Tags, and the places of addresses.
    use super::*;

    // G5
    #[test]
    fn tags_are_valid_schemes() {
        let mut taken = HashSet::new();
        let mut tag = |name: &str| server_tag(&ServerName::new(name), &mut taken);
        assert_eq!(tag("files"), "files");
        assert_eq!(tag("my.files-2"), "my.files-2");
        for (name, begin) in [("Files", "files."), ("my files", "my-files."), ("2nd", "s2nd."), ("ü", "s-.")]
        {
            let made = tag(name);
            assert!(made.starts_with(begin) && made.len() == begin.len() + 6, "{made}");
        }
    }

    // G5 G7
    #[test]
    fn addresses_are_rewritten_only_where_clients_send_them_back() {
        let text = r#"{"contents":[{"uri":"file:///a+b","text":"file:///a"}],"content":[{"type":"resource_link","uri":"u:\u0031","name":"n"},{"type":"text","text":"u:1","uri":"u:1"},{"type":"resource","resource":{"uri":"ui://x","_meta":{"ui":{"resourceUri":"ui:\/\/y"}}}}],"structuredContent":{"uri":"u:1"}}"#;
        let expected = r#"{"contents":[{"uri":"t+file:///a+b","text":"file:///a"}],"content":[{"type":"resource_link","uri":"t+u:\u0031","name":"n"},{"type":"text","text":"u:1","uri":"u:1"},{"type":"resource","resource":{"uri":"ui://t+x","_meta":{"ui":{"resourceUri":"ui://t+y"}}}}],"structuredContent":{"uri":"u:1"}}"#;
        assert_eq!(AddressRewriter::new(text, "t").rewrite_result(text), expected);
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(10_000))]

        // G5: an address that a client sends back leads to the same server and the same bytes.
        #[test]
        fn address_of_any_text_is_found_again_behind_its_tag(
            uri in proptest::prop_oneof!["(ui://)?[ -~é+]{0,12}", "\\PC{0,12}"],
            tag in "[a-z][a-z0-9.-]{0,6}",
        ) {
            let text = format!("{{\"contents\":[{{\"uri\":{}}}]}}", json_string(&uri));
            let rewritten = AddressRewriter::new(&text, &tag).rewrite_result(&text);
            let read: serde_json::Value = serde_json::from_str(&rewritten).unwrap();
            let seen = read["contents"][0]["uri"].as_str().unwrap();
            proptest::prop_assert_eq!(seen, client_address(&tag, &uri));
            let (scheme, rest) = seen.strip_prefix(UI).map_or(("", seen), |rest| (UI, rest));
            let (found, original) = rest.split_once('+').unwrap();
            proptest::prop_assert_eq!((found, format!("{scheme}{original}")), (tag.as_str(), uri));
        }
    }
}
