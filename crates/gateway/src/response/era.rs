//! The members of results and the error codes that depend on the client's era.

use mcparley::model::name::ServerName;
use mcparley::model::text::clean_json;
use mcparley_wire::{
    HEADER_MISMATCH, INTERNAL, INVALID_PARAMS, ProtocolVersion, RawJson, RpcError, UNSUPPORTED_VERSION,
};
use serde_json::Value;

use crate::client_abilities::Caller;
use crate::json_edit::{JsonEdit, JsonMembers, MemberList, array_elements};
use crate::mode::GatewayMode;
use crate::response::handshake::server_info;
use crate::response::result::block;
use crate::view::View;
use crate::view::address::AddressRewriter;

/// The `_meta` member with the server info, in the new era.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Error code of the old era: the resource does not exist.
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;

/// The form of a result: its client, the mode, and the server it is of.
#[derive(Debug)]
pub(crate) struct ResultForm<'f> {
    pub(crate) caller: &'f Caller,
    pub(crate) mode: &'f GatewayMode,
    /// The tag for addresses in the result.
    pub(crate) tag: Option<&'f str>,
    /// The server's own info, in transparent mode.
    pub(crate) server_info: Option<Value>,
    /// The era of the server, if it is known.
    pub(crate) server_era: Option<ServerEra>,
}

/// The era of the server that an answer is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerEra {
    Old,
    New,
}

impl ServerEra {
    /// The era of a server of this view that is or was connected.
    pub(crate) fn of_server(view: &View, server: &ServerName) -> Option<Self> {
        let version = view.find_server(server)?.version?;
        Some(if version == ProtocolVersion::NEW { Self::New } else { Self::Old })
    }
}

/// How long a client may cache a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultFreshness {
    /// The result has no cache hints.
    None,
    /// The result is stale at once, unless its server says otherwise.
    Stale,
}

impl<'f> ResultForm<'f> {
    pub(crate) fn new(caller: &'f Caller, view: &'f View, server: Option<&ServerName>) -> Self {
        let tag = server.and_then(|server| view.tag_of(server));
        let about = view.servers.first().and_then(|server| server.about.as_ref());
        let own_info = about.filter(|_| view.mode.is_transparent()).and_then(|about| about.info.clone());
        let one = view.mode.one.as_ref();
        let server_era = server.or(one).and_then(|server| ServerEra::of_server(view, server));
        Self { caller, mode: &view.mode, tag, server_info: own_info, server_era }
    }

    /// The result of a request other than a call, for the client.
    pub(crate) fn forward_result(&self, raw: &RawJson, freshness: ResultFreshness) -> RawJson {
        let clean = if self.mode.removes_hidden() { clean_json(raw.as_str()) } else { raw.as_str().into() };
        let fitted = self.replace_unknown_blocks(&clean);
        RawJson::from_text(&self.finish_result(fitted.as_deref().unwrap_or(&clean), freshness))
    }

    /// The contents of a user interface (MCP Apps), for the client. They are code for a browser and no text for a
    /// model, so hidden characters stay: without them the code could mean something else.
    pub(crate) fn forward_user_interface(&self, raw: &RawJson) -> RawJson {
        RawJson::from_text(&self.finish_result(raw.as_str(), ResultFreshness::Stale))
    }

    /// Replaces blocks in prompts that the client's revision does not have.
    fn replace_unknown_blocks(&self, text: &str) -> Option<String> {
        let messages = JsonMembers::parse(text)?.get("messages")?;
        let version = self.caller.spoken.version();
        let mut edit = JsonEdit::new(text);
        for message in array_elements(messages) {
            let content = JsonMembers::parse(message.get()).and_then(|members| members.get("content"));
            match content {
                Some(list) if list.get().starts_with('[') => {
                    block::replace_unknown_blocks(&mut edit, list, version);
                }
                Some(content) => block::replace_unknown_block(&mut edit, content, version),
                None => {}
            }
        }
        Some(edit.finish().into_owned())
    }

    /// A result with addresses for clients and the members of the client's era; other bytes stay.
    pub(crate) fn finish_result(&self, text: &str, freshness: ResultFreshness) -> String {
        let routed = match self.tag {
            Some(tag) if text.contains("uri") || text.contains("Uri") => {
                AddressRewriter::new(text, tag).rewrite_result(text)
            }
            Some(_) | None => text.into(),
        };
        let Some(members) = JsonMembers::parse(&routed) else { return routed.into_owned() };
        self.edit_members(&routed, &members, freshness).finish().into_owned()
    }

    /// The edits that give a result the members of the client's era.
    pub(crate) fn edit_members<'j>(
        &self,
        text: &'j str,
        members: &impl MemberList,
        freshness: ResultFreshness,
    ) -> JsonEdit<'j> {
        let mut edit = JsonEdit::new(text);
        match self.caller.is_new() {
            true if self.passes_new_era() => {}
            true => self.add_new_members(&mut edit, text, members, freshness),
            false => remove_new_members(&mut edit, text, members),
        }
        edit
    }

    /// Whether the client and the server are of the new era and the server speaks for itself, so that its
    /// results are complete.
    pub(crate) fn passes_new_era(&self) -> bool {
        self.mode.is_transparent() && self.caller.is_new() && self.server_era == Some(ServerEra::New)
    }

    fn add_new_members<'j>(
        &self,
        edit: &mut JsonEdit<'j>,
        text: &'j str,
        members: &impl MemberList,
        freshness: ResultFreshness,
    ) {
        if members.find_member("resultType").is_none() {
            edit.insert_first(text, members, r#""resultType":"complete""#);
        }
        let is_complete = members.find_member("resultType").is_none_or(|kind| kind == r#""complete""#);
        if freshness == ResultFreshness::Stale && is_complete {
            if members.find_member("ttlMs").is_none() {
                edit.insert_last(text, members, r#""ttlMs":0"#);
            }
            if members.find_member("cacheScope").is_none() {
                edit.insert_last(text, members, r#""cacheScope":"private""#);
            }
        }
        let meta = members.find_member("_meta");
        let inner = meta.and_then(JsonMembers::parse);
        let theirs = inner.as_ref().and_then(|inner| inner.get(SERVER_INFO));
        let info = self.server_info.clone().unwrap_or_else(server_info).to_string();
        let member = format!("\"{SERVER_INFO}\":{info}");
        match (meta, inner, theirs) {
            // In transparent mode the server speaks for itself.
            (_, _, Some(_)) if self.mode.is_transparent() => {}
            (_, _, Some(theirs)) => edit.replace(theirs, info),
            (Some(meta), Some(inner), None) => edit.insert_last(meta, &inner, &member),
            (Some(odd), None, None) => edit.replace_part(odd, format!("{{{member}}}")),
            (None, _, None) => edit.insert_last(text, members, &format!("\"_meta\":{{{member}}}")),
        }
    }
}

fn remove_new_members<'j>(edit: &mut JsonEdit<'j>, text: &'j str, members: &impl MemberList) {
    let meta = members.find_member("_meta");
    let inner = meta.and_then(|meta| Some((meta, JsonMembers::parse(meta)?)));
    let is_only_info = inner.as_ref().is_some_and(|(_, inner)| {
        let mut names = inner.iter().map(|(name, _)| name);
        names.next() == Some(SERVER_INFO) && names.next().is_none()
    });
    let is_new_member = |name: &str| {
        matches!(name, "resultType" | "ttlMs" | "cacheScope") || (name == "_meta" && is_only_info)
    };
    if members.list_members().any(|(name, _)| is_new_member(name)) {
        edit.remove_members(text, members, is_new_member);
    }
    if let Some((meta, inner)) = inner.filter(|(_, inner)| !is_only_info && inner.get(SERVER_INFO).is_some())
    {
        edit.remove_members(meta, &inner, |name| name == SERVER_INFO);
    }
}

/// The error of a server for a client of the other era, which may have another code for it.
pub(crate) fn relayed_error(
    error: RpcError,
    (method, uri): (&str, Option<&str>),
    caller: &Caller,
    server_era: Option<ServerEra>,
) -> RpcError {
    if matches!(error.code, HEADER_MISMATCH | UNSUPPORTED_VERSION) {
        return hop_error(error);
    }
    let names_uri = || {
        let named = error.data.as_ref().and_then(|data| data.member("uri"));
        named.and_then(|named| named.decode::<String>().ok()).is_some_and(|named| Some(named.as_str()) == uri)
    };
    let code = match (error.code, caller.is_new()) {
        (RESOURCE_NOT_FOUND, true) if server_era != Some(ServerEra::New) => INVALID_PARAMS,
        (INVALID_PARAMS, false)
            if server_era != Some(ServerEra::Old) && method == "resources/read" && names_uri() =>
        {
            RESOURCE_NOT_FOUND
        }
        (code, _) => code,
    };
    RpcError { code, ..error }
}

/// The error for a server's complaint about the request of the gateway itself, its headers or its version: the
/// client could mend nothing, and would take the code for an answer to its own request.
fn hop_error(RpcError { code, message, data }: RpcError) -> RpcError {
    let data = data.as_ref().map_or("null", RawJson::as_str);
    let data = RawJson::from_text(&format!(r#"{{"code":{code},"data":{data}}}"#));
    RpcError { code: INTERNAL, message, data: Some(data) }
}

#[cfg(test)]
mod tests {
    //! The codes of errors between the eras.
    use super::*;
    use serde_json::json;

    // G3 G7
    #[test]
    fn error_code_changes_only_between_eras() {
        let old_client = Caller::from_initialize(ProtocolVersion::NEWEST_OLD, None);
        let meta = crate::client_abilities::RequestMeta::parse(Some(&RawJson::from_text(
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#,
        )));
        let new_client = Caller::from_meta(&meta.unwrap(), None).unwrap();
        let (old, new) = (Some(ServerEra::Old), Some(ServerEra::New));
        let cases = [
            (&old_client, old, RESOURCE_NOT_FOUND, RESOURCE_NOT_FOUND),
            (&old_client, old, INVALID_PARAMS, INVALID_PARAMS),
            (&old_client, new, INVALID_PARAMS, RESOURCE_NOT_FOUND),
            (&new_client, old, RESOURCE_NOT_FOUND, INVALID_PARAMS),
            (&new_client, new, RESOURCE_NOT_FOUND, RESOURCE_NOT_FOUND),
            (&new_client, new, INVALID_PARAMS, INVALID_PARAMS),
        ];
        for (caller, server, sent, expected) in cases {
            let data = RawJson::from_value(&json!({ "uri": "a:b" })).unwrap();
            let error = RpcError::new(sent, "gone").with_data(data);
            let relayed = relayed_error(error, ("resources/read", Some("a:b")), caller, server);
            assert_eq!(relayed.code, expected, "{server:?} {sent}");
        }
        for (caller, sent) in [(&old_client, HEADER_MISMATCH), (&new_client, UNSUPPORTED_VERSION)] {
            let error = RpcError::new(sent, "odd").with_data(RawJson::from_text(r#"{"supported":[]}"#));
            let relayed = relayed_error(error, ("tools/call", None), caller, new);
            assert_eq!(relayed.code, INTERNAL, "{sent}");
            let data = relayed.data.unwrap();
            assert_eq!(data.as_str(), format!(r#"{{"code":{sent},"data":{{"supported":[]}}}}"#));
        }
    }
}
