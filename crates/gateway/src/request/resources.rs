//! Answers `resources/read`, `resources/directory/read`, `completion/complete` and `skills/get`: routed by
//! address or name.

use mcparley_wire::{INVALID_PARAMS, METHOD_NOT_FOUND, ProtocolVersion, RawJson, RequestParams, RpcError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client_abilities::Caller;
use crate::request::relay::RelayedRequest;
use crate::response::era::{RESOURCE_NOT_FOUND, ResultForm, ResultFreshness};
use crate::session::GatewaySession;
use crate::view::address::is_user_interface;

impl GatewaySession {
    /// Answers `resources/read`.
    pub(crate) async fn read_resource(
        &self,
        request: RelayedRequest<'_>,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let (uri, view) = (uri_param(params)?, self.shared.gateway.view());
        let (server, original) =
            view.route_address(&uri).ok_or_else(|| unknown_resource(&uri, &request.caller))?;
        let sent = RequestParams::new().with_member("uri", &original);
        let method = ("resources/read", Some(original.as_str()));
        let answer = self.relay_with_questions(request, &server.name, method, (sent, params)).await?;
        let form = ResultForm::new(&request.caller, &view, Some(&server.name));
        Ok(match is_user_interface(&original) {
            true => form.forward_user_interface(&answer),
            false => form.forward_result(&answer, ResultFreshness::Stale),
        })
    }

    /// Answers `resources/directory/read` of the extension for skills.
    pub(crate) async fn read_directory(
        &self,
        request: RelayedRequest<'_>,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        self.relay_by_address(request, "resources/directory/read", params, ResultFreshness::Stale).await
    }

    /// Answers `skills/get`.
    pub(crate) async fn fetch_skill(
        &self,
        request: RelayedRequest<'_>,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        self.relay_by_address(request, "skills/get", params, ResultFreshness::None).await
    }

    /// Relays a request to the server that its address names.
    async fn relay_by_address(
        &self,
        request: RelayedRequest<'_>,
        method: &'static str,
        params: Option<&RawJson>,
        freshness: ResultFreshness,
    ) -> Result<RawJson, RpcError> {
        let (uri, view) = (uri_param(params)?, self.shared.gateway.view());
        let (server, original) =
            view.route_address(&uri).ok_or_else(|| unknown_resource(&uri, &request.caller))?;
        let sent = RequestParams::new().with_member("uri", &original);
        let sent = match find_member(params, "cursor") {
            Some(cursor) => sent.with_raw("cursor", &cursor),
            None => sent,
        };
        let answer = self.relay_request(request, &server.name, (method, None), sent).await?;
        let form = ResultForm::new(&request.caller, &view, Some(&server.name));
        Ok(form.forward_result(&answer, freshness))
    }

    /// Answers `prompts/get`.
    pub(crate) async fn fetch_prompt(
        &self,
        request: RelayedRequest<'_>,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let name = params.and_then(|params| params.member("name"));
        let Some(name) = name.and_then(|name| name.decode::<String>().ok()) else {
            return Err(RpcError::new(INVALID_PARAMS, "`name` must be a string"));
        };
        let view = self.view_with(|view| view.route_prompt(&name).is_some()).await;
        let (server, original) = view.route_prompt(&name).ok_or_else(|| unknown_prompt(&name))?;
        let sent = RequestParams::new().with_member("name", &original);
        let arguments = params.and_then(|params| params.member("arguments"));
        let sent = match arguments {
            Some(arguments) => sent.with_raw("arguments", &arguments),
            None => sent,
        };
        let method = ("prompts/get", None);
        let answer = self.relay_with_questions(request, &server.name, method, (sent, params)).await?;
        let form = ResultForm::new(&request.caller, &view, Some(&server.name));
        Ok(form.forward_result(&answer, ResultFreshness::None))
    }

    /// Answers `completion/complete`.
    pub(crate) async fn complete_argument(
        &self,
        request: RelayedRequest<'_>,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        #[derive(Deserialize)]
        struct CompletionRef {
            #[serde(rename = "type")]
            kind: String,
            #[serde(default)]
            name: Option<String>,
            #[serde(default)]
            uri: Option<String>,
        }
        let invalid = |reason: &str| RpcError::new(INVALID_PARAMS, reason);
        let (Some(reference), Some(argument)) = (find_member(params, "ref"), find_member(params, "argument"))
        else {
            return Err(invalid("`ref` and `argument` are required"));
        };
        let wanted: CompletionRef = reference.decode().map_err(|_| invalid("`ref` is invalid"))?;
        let view = self.shared.gateway.view();
        let (server, target) = match (wanted.kind.as_str(), wanted.name, wanted.uri) {
            ("ref/prompt", Some(name), _) => {
                let (server, original) = view.route_prompt(&name).ok_or_else(|| unknown_prompt(&name))?;
                (server, rename_reference(&reference, "name", &original))
            }
            ("ref/resource", _, Some(uri)) => {
                let routed = view.route_template(&uri);
                let (server, original) = routed.ok_or_else(|| unknown_resource(&uri, &request.caller))?;
                (server, rename_reference(&reference, "uri", &original))
            }
            _ => return Err(invalid("`ref` is invalid")),
        };
        if server.about.is_some() && !server.has_capability("completions") {
            return Err(RpcError::new(METHOD_NOT_FOUND, "the server does not offer completion"));
        }
        let sent = RequestParams::new().with_member("ref", &target).with_raw("argument", &argument);
        let knows_context = server.version.is_none_or(ProtocolVersion::has_completion_context);
        let sent = match find_member(params, "context").filter(|_| knows_context) {
            Some(context) => sent.with_raw("context", &context),
            None => sent,
        };
        let answer = self.relay_request(request, &server.name, ("completion/complete", None), sent).await?;
        let form = ResultForm::new(&request.caller, &view, Some(&server.name));
        Ok(form.forward_result(&answer, ResultFreshness::None))
    }
}

fn find_member(params: Option<&RawJson>, name: &str) -> Option<RawJson> {
    params.and_then(|params| params.member(name))
}

/// The `uri` of a request.
pub(crate) fn uri_param(params: Option<&RawJson>) -> Result<String, RpcError> {
    let uri = find_member(params, "uri").and_then(|uri| uri.decode::<String>().ok());
    uri.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`uri` must be a string"))
}

/// A reference with another name or address.
fn rename_reference(reference: &RawJson, member: &str, to: &str) -> Value {
    let mut reference: Value = reference.decode().unwrap_or_default();
    if let Some(members) = reference.as_object_mut() {
        members.insert(member.to_owned(), json!(to));
    }
    reference
}

/// The error for a resource that does not exist, or that the client must not know of.
pub(crate) fn unknown_resource(uri: &str, caller: &Caller) -> RpcError {
    let code = if caller.is_new() { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
    let error = RpcError::new(code, "resource not found");
    match RawJson::from_value(&json!({ "uri": uri })) {
        Ok(data) => error.with_data(data),
        Err(_) => error,
    }
}

fn unknown_prompt(name: &str) -> RpcError {
    let name = mcparley::model::text::display_line(name).into_owned();
    RpcError::new(INVALID_PARAMS, &format!("there is no prompt `{name}`"))
}
