//! Proofs that a client holds the key its token is bound to (RFC 9449), by their shape: no signature is verified.

use super::jwt;
use crate::http::request::HttpRequest;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use mcparley_testkit::{Lie, Lies};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// What a proof for the token endpoint must name.
pub(crate) const SERVER_NONCE: &str = "nonce-of-the-authorization-server";
/// What a proof for the MCP server must name: another one, for nonces do not travel.
pub(crate) const RESOURCE_NONCE: &str = "nonce-of-the-resource";

/// The proofs that were shown, by their names: each is good once.
#[derive(Debug, Default)]
pub(crate) struct Proofs(HashSet<String>);

impl Proofs {
    /// The key and the claims of a proof that has all it needs and was never shown before.
    fn take(&mut self, request: &HttpRequest) -> Result<(Value, Value), &'static str> {
        let (key, claims) = read(request).ok_or("invalid_dpop_proof")?;
        let name = claims["jti"].as_str().unwrap_or_default().to_owned();
        if self.0.insert(name) { Ok((key, claims)) } else { Err("invalid_dpop_proof") }
    }
}

/// The key of a token request's proof; none where none is asked for.
pub(crate) fn at_token_endpoint(
    lies: &Lies,
    proofs: &mut Proofs,
    request: &HttpRequest,
) -> Result<Option<Value>, &'static str> {
    if lies.is(Lie::Dpop, "no") {
        return Ok(None);
    }
    let (key, claims) = proofs.take(request)?;
    let nonce = lies.is(Lie::Dpop, "nonce").then_some(SERVER_NONCE);
    if nonce.is_some_and(|nonce| claims["nonce"] != nonce) {
        return Err("use_dpop_nonce");
    }
    Ok(Some(key))
}

/// Whether a request to the MCP server proves the key its token is bound to.
pub(crate) fn at_resource(
    lies: &Lies,
    proofs: &mut Proofs,
    request: &HttpRequest,
    (token, key): (&str, &Value),
) -> Result<(), &'static str> {
    let (shown, claims) = proofs.take(request)?;
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(token));
    if shown != *key || claims["ath"] != hash.as_str() {
        return Err("invalid_dpop_proof");
    }
    let nonce = lies.is(Lie::Dpop, "nonce").then_some(RESOURCE_NONCE);
    if nonce.is_some_and(|nonce| claims["nonce"] != nonce) { Err("use_dpop_nonce") } else { Ok(()) }
}

/// The key and the claims of a proof that has all it needs.
fn read(request: &HttpRequest) -> Option<(Value, Value)> {
    let proof = request.header("dpop")?;
    let (header, claims) = (jwt::header(proof)?, jwt::claims(proof)?);
    let path = claims["htu"].as_str()?.split_once("://")?.1;
    let is_here = path.split_once('/').map(|(_, path)| path) == request.path.strip_prefix('/');
    let whole = header["typ"] == "dpop+jwt"
        && header["jwk"]["d"].is_null()
        && claims["htm"] == request.method.as_str()
        && claims["jti"].is_string()
        && claims["iat"].is_i64()
        && is_here;
    whole.then(|| (header["jwk"].clone(), claims))
}
