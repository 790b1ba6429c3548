//! The differences that a gateway may make. They are erased from both sides before these are compared.

use serde_json::json;

use crate::client::RecordedMessage;
use crate::recording::{LOG_LEVEL, UNKNOWN_TOOL};
use crate::tree::TokenTree;

/// The `_meta` member with the server info, in the new era.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The extension for tasks, in the new era.
const TASKS: &str = "io.modelcontextprotocol/tasks";
/// The error of 2025-11-25 with pages to visit.
const URL_REQUIRED: i64 = -32042;
/// The error of the new era for a client that lacks a capability.
const CAPABILITY_MISSING: i64 = -32021;
/// Members of results that only the new era has.
const NEW_MEMBERS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Whether an item exists on both sides: the log level is a request in the old era only.
pub(crate) fn is_compared(item: &str, is_crossed: bool) -> bool {
    !(is_crossed && item == LOG_LEVEL)
}

/// Whether a server of one era ends a request with an error that the gateway resolves for a client of the other
/// era: pages to visit become input requests, and a task that the server requires is followed by the gateway.
pub(crate) fn is_bridged(messages: &[RecordedMessage]) -> bool {
    let Some(RecordedMessage::Error(error)) = messages.last() else { return false };
    let code = error.get("code").map(TokenTree::to_value);
    code == Some(json!(URL_REQUIRED)) || code == Some(json!(CAPABILITY_MISSING))
}

/// The messages of an item without the allowed differences; `is_crossed` if client and server are of
/// different eras.
pub(crate) fn erase_allowed_differences(
    item: &str,
    messages: &[RecordedMessage],
    is_crossed: bool,
) -> Vec<RecordedMessage> {
    if item == UNKNOWN_TOOL {
        return vec![erase_refusal(messages)];
    }
    let mut messages = messages.to_vec();
    for message in &mut messages {
        if let RecordedMessage::Result(result) = message {
            erase_handshake(item, result);
            erase_tasks(item, result, is_crossed);
            erase_envelope(item, result);
        }
    }
    if is_crossed {
        messages.into_iter().flat_map(|message| erase_era(item, message)).collect()
    } else {
        messages
    }
}

/// The gateway negotiates versions for itself, and says itself how long its answer is good for.
fn erase_handshake(item: &str, result: &mut TokenTree) {
    if item == "handshake" {
        result.remove(&["supportedVersions", "ttlMs", "cacheScope"]);
    }
}

/// Tasks are a capability in the old era and an extension in the new one; the gateway does not offer the
/// extension to clients of the old era, though some servers do.
fn erase_tasks(item: &str, result: &mut TokenTree, is_crossed: bool) {
    if item == "capabilities" {
        if let Some(extensions) = result.get_mut("extensions") {
            extensions.remove(&[TASKS]);
        }
        if !is_crossed {
            return;
        }
        result.remove(&["tasks"]);
        if let Some(TokenTree::Object(extensions)) = result.get("extensions")
            && extensions.is_empty()
        {
            result.remove(&["extensions"]);
        }
    }
}

/// A tool that is hidden from a client must not differ from one that does not exist, so the gateway refuses
/// both itself. Servers refuse with an error or with a failed result.
fn erase_refusal(messages: &[RecordedMessage]) -> RecordedMessage {
    let is_refusal = match messages {
        [RecordedMessage::Error(error)] => error.get("code").map(TokenTree::to_value) == Some(json!(-32602)),
        [RecordedMessage::Result(result)] => {
            result.get("isError").map(TokenTree::to_value) == Some(json!(true))
        }
        _ => false,
    };
    RecordedMessage::Error(TokenTree::from_value(&json!(if is_refusal { "refused" } else { "not refused" })))
}

/// The gateway writes the result around a list itself and divides it into pages of its own.
fn erase_envelope(item: &str, result: &mut TokenTree) {
    if item.ends_with("/list") {
        result.remove(&["nextCursor"]);
        if let TokenTree::Object(members) = result {
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
    }
}

/// The form of a message that depends on the era.
fn erase_era(item: &str, message: RecordedMessage) -> Vec<RecordedMessage> {
    match message {
        RecordedMessage::Result(result) => match result.get("inputRequests") {
            // In the old era each input is a request of its own.
            Some(TokenTree::Object(requests)) => {
                requests.iter().filter_map(|(_, request)| erase_question(request.clone())).collect()
            }
            Some(_) | None => vec![RecordedMessage::Result(erase_result(item, result))],
        },
        RecordedMessage::Question(question) => erase_question(question).into_iter().collect(),
        RecordedMessage::Error(mut error) => {
            // The code of a resource that does not exist depends on the era.
            let is_missing = error.get("code").map(TokenTree::to_value) == Some(json!(-32002));
            if let Some(code) = error.get_mut("code").filter(|_| is_missing) {
                *code = TokenTree::from_value(&json!(-32602));
            }
            vec![RecordedMessage::Error(error)]
        }
        RecordedMessage::Notification(_) => vec![message],
    }
}

/// Erases the members that only results of the new era have.
fn erase_result(item: &str, mut result: TokenTree) -> TokenTree {
    if item == "handshake" {
        return TokenTree::Object(Vec::new());
    }
    result.remove(&NEW_MEMBERS);
    if let Some(meta) = result.get_mut("_meta") {
        meta.remove(&[SERVER_INFO]);
        if meta.is_empty_object() {
            result.remove(&["_meta"]);
        }
    }
    result
}

/// A question without the members that only one era has; none for a request of roots.
fn erase_question(mut question: TokenTree) -> Option<RecordedMessage> {
    if question.get("method").and_then(TokenTree::as_text).as_deref() == Some("roots/list") {
        return None;
    }
    if let Some(params) = question.get_mut("params") {
        params.remove(&["mode", "elicitationId", "_meta"]);
    }
    Some(RecordedMessage::Question(question))
}
