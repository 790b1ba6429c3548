//! DPoP proofs of possession (RFC 9449), checked by shape: no signature is verified.

use super::jwt;
use crate::http::request::HttpRequest;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use mcparley_testkit::{Lie, LieSet};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// The nonce of proofs for the token endpoint.
pub(crate) const SERVER_NONCE: &str = "nonce-of-the-authorization-server";
/// The nonce of proofs for the MCP server: a different one, as nonces are per server.
pub(crate) const RESOURCE_NONCE: &str = "nonce-of-the-resource";

/// The proofs seen so far, by their `jti`: each is valid once.
#[derive(Debug, Default)]
pub(crate) struct SeenProofs(HashSet<String>);

impl SeenProofs {
    /// Checks a proof and rejects replays; returns its key and claims.
    fn accept_proof(&mut self, request: &HttpRequest) -> Result<(Value, Value), &'static str> {
        let (key, claims) = parse_proof(request).ok_or("invalid_dpop_proof")?;
        let name = claims["jti"].as_str().unwrap_or_default().to_owned();
        if self.0.insert(name) { Ok((key, claims)) } else { Err("invalid_dpop_proof") }
    }
}

/// The key of a token request's proof; none where no proof is required.
pub(crate) fn check_token_proof(
    lies: &LieSet,
    proofs: &mut SeenProofs,
    request: &HttpRequest,
) -> Result<Option<Value>, &'static str> {
    if lies.is_word(Lie::Dpop, "no") {
        return Ok(None);
    }
    let (key, claims) = proofs.accept_proof(request)?;
    let nonce = lies.is_word(Lie::Dpop, "nonce").then_some(SERVER_NONCE);
    if nonce.is_some_and(|nonce| claims["nonce"] != nonce) {
        return Err("use_dpop_nonce");
    }
    Ok(Some(key))
}

/// Checks that a request to the MCP server proves possession of the key its token is bound to.
pub(crate) fn check_resource_proof(
    lies: &LieSet,
    proofs: &mut SeenProofs,
    request: &HttpRequest,
    (token, key): (&str, &Value),
) -> Result<(), &'static str> {
    let (shown, claims) = proofs.accept_proof(request)?;
    let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(token));
    if shown != *key || claims["ath"] != hash.as_str() {
        return Err("invalid_dpop_proof");
    }
    let nonce = lies.is_word(Lie::Dpop, "nonce").then_some(RESOURCE_NONCE);
    if nonce.is_some_and(|nonce| claims["nonce"] != nonce) { Err("use_dpop_nonce") } else { Ok(()) }
}

/// The key and the claims of a complete proof.
fn parse_proof(request: &HttpRequest) -> Option<(Value, Value)> {
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
