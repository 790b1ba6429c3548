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
        let (context, _line, _unanswered) =
            self.request_context((request.caller, request.meta), request.replies);
        let answer = self.host().relay_unknown_request(&server.name, method, sent, Some(context)).await;
        let era = ServerEra::of_server(&view, &server.name);
        let answer = answer.map_err(|error| request_error(error, (method, None), &request.caller, era))?;
        let form = ResultForm::new(&request.caller, &view, Some(&server.name));
        Ok(form.forward_result(&answer, ResultFreshness::None))
    }
}

/// Whether a server declares an extension or an experimental capability.
fn has_extension(capabilities: &Map<String, Value>) -> bool {
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
