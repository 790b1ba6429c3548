//! Who is let in to the MCP server: those with a token that is good now and enough for what they ask.

use super::{Origins, Reply, State, metadata, proof};
use crate::http::request::HttpRequest;
use mcparley_testkit::Lie;
use serde_json::Value;

impl State {
    /// How a request is refused, if it is.
    pub(super) fn refusal(&mut self, origins: &Origins, request: &HttpRequest) -> Option<Reply> {
        let header = request.header("authorization").unwrap_or_default();
        let (scheme, token) = header.split_once(' ').unwrap_or_default();
        let Some(grant) = self.tokens.access(token).cloned() else {
            return Some(
                self.unauthorized(origins, if token.is_empty() { None } else { Some("invalid_token") }),
            );
        };
        let is_elsewhere = |resource: &String| *resource != metadata::resource_name(&self.lies, origins);
        let proven = match &grant.key {
            _ if grant.resource.as_ref().is_some_and(is_elsewhere) => Err("invalid_token"),
            Some(key) if scheme == "DPoP" => {
                proof::at_resource(&self.lies, &mut self.proofs, request, (token, key))
            }
            None if scheme == "Bearer" => Ok(()),
            Some(_) | None => Err("invalid_token"),
        };
        if let Err(error) = proven {
            let refusal = self.unauthorized(origins, Some(error));
            return Some(refusal.with("DPoP-Nonce", proof::RESOURCE_NONCE));
        }
        let has = |wanted: &str| {
            wanted.split(' ').all(|one| one.is_empty() || grant.scope.split(' ').any(|had| had == one))
        };
        let (scope, more) = (self.lies.text(Lie::Scope), self.lies.text(Lie::StepUp));
        if !has(&scope) {
            return Some(self.insufficient(origins, &scope));
        }
        let goes_on = has(&more) && self.lies.is(Lie::StepUpEnds, "yes");
        let is_call = method(request).as_deref() == Some("tools/call");
        (is_call && !more.is_empty() && !goes_on).then(|| self.insufficient(origins, &more))
    }

    fn unauthorized(&mut self, origins: &Origins, error: Option<&str>) -> Reply {
        self.book.refused("unauthorized");
        let scope = self.lies.text(Lie::Scope);
        self.challenged(origins, 401, error, &scope)
    }

    fn insufficient(&mut self, origins: &Origins, scope: &str) -> Reply {
        self.book.refused("insufficient_scope");
        self.challenged(origins, 403, Some("insufficient_scope"), scope)
    }

    fn challenged(&self, origins: &Origins, status: u16, error: Option<&str>, scope: &str) -> Reply {
        let reply = Reply { status, headers: Vec::new(), body: Value::Null };
        let scheme = if self.lies.is(Lie::Dpop, "no") { "Bearer" } else { "DPoP" };
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
        reply.with("WWW-Authenticate", challenge.trim_end())
    }
}

/// The method of a message.
fn method(request: &HttpRequest) -> Option<String> {
    let message: Value = serde_json::from_slice(&request.body).ok()?;
    message["method"].as_str().map(str::to_owned)
}
