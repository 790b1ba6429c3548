//! The compact form of a signed token (RFC 7515, section 7.1), taken apart without trusting it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::limits::CLIENT_TOKEN_BYTES;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::access_refusal::AccessRefusal;

/// The types of tokens that are accepted: an access token (RFC 9068), or one that does not say.
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];

/// The parts of a token before its signature is verified.
#[derive(Debug)]
pub(crate) struct CompactToken<'t> {
    pub(crate) header: TokenHeader,
    pub(crate) claims: Map<String, Value>,
    /// The text that is signed.
    pub(crate) signed: &'t [u8],
    pub(crate) signature: Vec<u8>,
}

/// The header of a token. A repeated member is an error.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenHeader {
    pub(crate) alg: String,
    pub(crate) kid: Option<String>,
    typ: Option<String>,
    /// Header members that must be understood; there is none.
    crit: Option<Value>,
}

impl<'t> CompactToken<'t> {
    /// Takes a token apart.
    pub(crate) fn parse(token: &'t str) -> Result<Self, AccessRefusal> {
        if token.len() > CLIENT_TOKEN_BYTES {
            return Err(AccessRefusal::TooLarge);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(AccessRefusal::Form)?;
        let (header, claims) = signed.split_once('.').ok_or(AccessRefusal::Form)?;
        // A third dot is no character of base64url.
        let header: TokenHeader = decode_part(header)?;
        let claims = decode_part(claims)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| AccessRefusal::Form)?;
        let is_known = |kind: &String| TYPES.iter().any(|known| known.eq_ignore_ascii_case(kind));
        match header.crit.is_none() && header.typ.as_ref().is_none_or(is_known) {
            true => Ok(Self { header, claims, signed: signed.as_bytes(), signature }),
            false => Err(AccessRefusal::Type),
        }
    }
}

fn decode_part<T: for<'d> Deserialize<'d>>(part: &str) -> Result<T, AccessRefusal> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| AccessRefusal::Form)?;
    serde_json::from_slice(&bytes).map_err(|_| AccessRefusal::Form)
}
