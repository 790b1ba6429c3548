//! Relays methods of unknown extensions to the one server of a transparent gateway.

use mcparley_wire::{METHOD_NOT_FOUND, RawJson, RequestParams, RpcError};
use serde_json::{Map, Value};

use crate::json_edit::JsonMembers;
use crate::request::relay::{RelayedRequest, request_error};
use crate::response::era::{ResultForm, ResultFreshness, ServerEra};
use crate::session::GatewaySession;

/// The namespaces of the protocol itself: a method there that is not answered elsewhere does not exist in the
/// client's revision.
const PROTOCOL: [&str; 14] = [
    "completion",
    "elicitation",
    "initialize",
    "logging",
    "notifications",
    "ping",
    "prompts",
    "resources",
    "roots",
    "sampling",
    "server",
    "subscriptions",
    "tasks",
    "tools",
];

impl GatewaySession {
    /// Relays a request of an extension; the method is unknown unless the gateway is transparent and its
    /// server declares an extension.
    pub(crate) async fn relay_extension(
        &self,
        request: RelayedRequest<'_>,
        method: &str,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let unknown =
            || RpcError::new(METHOD_NOT_FOUND, &format!("unknown method `{}`", display_method(method)));
        let view = self.shared.gateway.view();
        let server = view.servers.first().filter(|_| view.mode.is_transparent()).ok_or_else(unknown)?;
        let about = server.about.as_ref().ok_or_else(unknown)?;
        // Some servers exit on a method that they do not know.
        let namespace = method.split('/').next().unwrap_or_default();
        if PROTOCOL.contains(&namespace) || !has_extension(&about.capabilities) {
            return Err(unknown());
        }
        let mut sent = RequestParams::new();
        if let Some((params, members)) = params.and_then(|raw| Some((raw, JsonMembers::parse(raw.as_str())?)))
        {
            let others = members.iter().filter(|(name, _)| *name != "_meta");
            sent = others.fold(sent, |sent, (name, value)| sent.with_raw(name, &params.share_slice(value)));
        }
        let about = (method, params);
        let (context, _line, questions) =
            self.request_context(about, (request.caller, request.meta), request.replies);
        // An extension's request cannot come back with answers.
        drop(questions);
        let answer = self.host().relay_unknown_request(&server.name, method, sent, Some(context)).await;
        let era = ServerEra::of_server(&view, &server.name);
        let answer = answer.map_err(|error| request_error(error, (method, None), &request.caller, era))?;
        let form = ResultForm::new(&request.caller, &view, Some(&server.name));
        Ok(form.forward_result(&answer, ResultFreshness::None))
    }
}

/// Whether a method is one of the protocol itself, in any revision.
pub(crate) fn is_protocol_method(method: &str) -> bool {
    let mut parts = method.split('/');
    match (parts.next(), parts.next()) {
        (Some("notifications"), Some(name)) => {
            PROTOCOL.contains(&name) || matches!(name, "initialized" | "cancelled" | "progress" | "message")
        }
        (name, _) => name.is_none_or(|name| PROTOCOL.contains(&name)),
    }
}

/// Whether a server declares an extension or an experimental capability.
pub(crate) fn has_extension(capabilities: &Map<String, Value>) -> bool {
    let is_declared = |name: &str| {
        let declared = capabilities.get(name).and_then(Value::as_object);
        declared.is_some_and(|declared| !declared.is_empty())
    };
    is_declared("extensions") || is_declared("experimental")
}

/// A method name for an error message: short, with hidden characters escaped.
fn display_method(method: &str) -> String {
    mcparley::model::text::display_line(&method.chars().take(64).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // G7
    #[test]
    fn methods_of_the_protocol_are_told_from_those_of_extensions() {
        for method in ["tools/call", "ping", "notifications/progress", "notifications/tools/list_changed"] {
            assert!(is_protocol_method(method), "{method}");
        }
        for method in ["vendor/do", "notifications/vendor/done", "vendor"] {
            assert!(!is_protocol_method(method), "{method}");
        }
    }
}
