//! Checks the access token of requests to the MCP server: validity, audience, key binding and scope.

use super::{OAuthReply, ServerOrigins, State, metadata, proof};
use crate::http::request::HttpRequest;
use mcparley_testkit::Lie;
use serde_json::Value;

impl State {
    /// The rejection of an unauthorized request; none if the request is allowed.
    pub(super) fn check_access(
        &mut self,
        origins: &ServerOrigins,
        request: &HttpRequest,
    ) -> Option<OAuthReply> {
        let header = request.header("authorization").unwrap_or_default();
        let (scheme, token) = header.split_once(' ').unwrap_or_default();
        let Some(grant) = self.tokens.access_grant(token).cloned() else {
            return Some(
                self.reject_unauthorized(
                    origins,
                    if token.is_empty() { None } else { Some("invalid_token") },
                ),
            );
        };
        let is_elsewhere = |resource: &String| *resource != metadata::resource_name(&self.lies, origins);
        let proven = match &grant.key {
            _ if grant.resource.as_ref().is_some_and(is_elsewhere) => Err("invalid_token"),
            Some(key) if scheme == "DPoP" => {
                proof::check_resource_proof(&self.lies, &mut self.proofs, request, (token, key))
            }
            None if scheme == "Bearer" => Ok(()),
            Some(_) | None => Err("invalid_token"),
        };
        if let Err(error) = proven {
            let refusal = self.reject_unauthorized(origins, Some(error));
            return Some(refusal.with_header("DPoP-Nonce", proof::RESOURCE_NONCE));
        }
        let has = |wanted: &str| {
            wanted.split(' ').all(|one| one.is_empty() || grant.scope.split(' ').any(|had| had == one))
        };
        let (scope, more) = (self.lies.text(Lie::Scope), self.lies.text(Lie::StepUp));
        if !has(&scope) {
            return Some(self.reject_insufficient_scope(origins, &scope));
        }
        let goes_on = has(&more) && self.lies.is_word(Lie::StepUpEnds, "yes");
        let is_call = jsonrpc_method(request).as_deref() == Some("tools/call");
        (is_call && !more.is_empty() && !goes_on).then(|| self.reject_insufficient_scope(origins, &more))
    }

    fn reject_unauthorized(&mut self, origins: &ServerOrigins, error: Option<&str>) -> OAuthReply {
        self.book.count_rejection("unauthorized");
        let scope = self.lies.text(Lie::Scope);
        self.challenge_reply(origins, 401, error, &scope)
    }

    fn reject_insufficient_scope(&mut self, origins: &ServerOrigins, scope: &str) -> OAuthReply {
        self.book.count_rejection("insufficient_scope");
        self.challenge_reply(origins, 403, Some("insufficient_scope"), scope)
    }

    fn challenge_reply(
        &self,
        origins: &ServerOrigins,
        status: u16,
        error: Option<&str>,
        scope: &str,
    ) -> OAuthReply {
        let reply = OAuthReply { status, headers: Vec::new(), body: Value::Null };
        let scheme = if self.lies.is_word(Lie::Dpop, "no") { "Bearer" } else { "DPoP" };
        let mut parts: Vec<String> = error.iter().map(|error| format!("error=\"{error}\"")).collect();
        match self.lies.text(Lie::Challenge).as_str() {
            "none" => return reply,
            "bare" => {}
            _ => parts.push(format!("resource_metadata=\"{}\"", metadata::resource_url(&self.lies, origins))),
        }
        if !scope.is_empty() {
            parts.push(format!("scope=\"{scope}\""));
        }
        let challenge = format!("{scheme} {}", parts.join(", "));
        reply.with_header("WWW-Authenticate", challenge.trim_end())
    }
}

/// The JSON-RPC method of a request.
fn jsonrpc_method(request: &HttpRequest) -> Option<String> {
    let message: Value = serde_json::from_slice(&request.body).ok()?;
    message["method"].as_str().map(str::to_owned)
}
