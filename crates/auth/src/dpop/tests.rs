//! Proofs are verified with the key they name, and compared with the examples of RFC 9449.

use std::time::{Duration, UNIX_EPOCH};

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::limits::DPOP_NONCE_BYTES;

use super::*;
use crate::challenge::TokenChallenge;
use crate::grant::TokenError;
use crate::grant::tests::{secret, server, words};
use crate::metadata::ResourceMetadata;
use crate::tokens::Kind;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_562_262_616)
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn json_in(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// Header and claims of a proof, after its signature is verified with the key it contains.
fn verified(proof: &Secret<String>) -> (Value, Value) {
    let (message, signature) = proof.expose().rsplit_once('.').unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let header = json_in(header);
    let mut point = vec![4];
    for name in ["x", "y"] {
        point.extend(URL_SAFE_NO_PAD.decode(header["jwk"][name].as_str().unwrap()).unwrap());
    }
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    public.verify(message.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    (header, json_in(claims))
}

// A1: the examples of RFC 9449, 4.1 and 6.1.
#[test]
fn thumbprints_and_hashes_are_those_of_the_standard() {
    let (x, y) =
        ("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs", "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA");
    assert_eq!(jwk_thumbprint(x, y), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
    let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
    assert_eq!(hash(token), "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
}

// A1
#[test]
fn proof_for_a_token_request_names_only_the_request() {
    let prover = Prover::generate().unwrap();
    let url = url("https://as.example:8443/token?x=1#y");
    let proof = prover.create_proof(&ProofRequest { method: "POST", url: &url, token: None }, now()).unwrap();
    let (header, mut claims) = verified(&proof);
    let (x, y) = prover.public_point();
    let key = json!({"kty": "EC", "crv": "P-256", "x": x, "y": y});
    assert_eq!(header, json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": key}));
    assert_eq!(claims["jti"].take().as_str().unwrap().len(), 22);
    let wanted =
        json!({"jti": null, "htm": "POST", "htu": "https://as.example:8443/token", "iat": 1_562_262_616});
    assert_eq!(claims, wanted);
}

// A1
#[test]
fn a_proof_with_a_token_carries_its_hash_and_is_never_the_same_twice() {
    let prover = Prover::generate().unwrap();
    let (url, token) = (url("https://mcp.example/mcp"), secret("canary-token"));
    let request = ProofRequest { method: "GET", url: &url, token: Some(&token) };
    let (_, first) = verified(&prover.create_proof(&request, now()).unwrap());
    let (_, second) = verified(&prover.create_proof(&request, now()).unwrap());
    assert_eq!(first["ath"], hash("canary-token"));
    assert_ne!(first["jti"], second["jti"]);
}

// A1
#[test]
fn nonces_are_kept_per_receiver_and_origin() {
    let prover = Prover::generate().unwrap();
    let (here, there) = (url("https://a.example/token"), url("https://b.example/mcp"));
    let token = secret("at");
    let nonce = |url: &Url, token: Option<&Secret<String>>| {
        let (_, claims) =
            verified(&prover.create_proof(&ProofRequest { method: "POST", url, token }, now()).unwrap());
        claims.get("nonce").and_then(Value::as_str).map(str::to_owned)
    };
    assert!(prover.remember_nonce(ProofReceiver::Issuer, &here, "one"));
    assert!(prover.remember_nonce(ProofReceiver::Resource, &here, "two"));
    assert!(prover.remember_nonce(ProofReceiver::Issuer, &here, "three"));
    assert_eq!(nonce(&here, None).as_deref(), Some("three"));
    assert_eq!(nonce(&url("https://a.example/other"), None).as_deref(), Some("three"));
    assert_eq!(nonce(&here, Some(&token)).as_deref(), Some("two"));
    assert_eq!((nonce(&there, None), nonce(&there, Some(&token))), (None, None));
}

// H15
#[test]
fn nonces_are_bounded_in_form_and_number() {
    let prover = Prover::generate().unwrap();
    let here = url("https://a.example/");
    for bad in ["", "a b", "a\"b", "ü", "a\r\nb", &"x".repeat(DPOP_NONCE_BYTES + 1)] {
        assert!(!prover.remember_nonce(ProofReceiver::Issuer, &here, bad), "{bad:.20}");
    }
    for count in 0..100 {
        prover.remember_nonce(ProofReceiver::Resource, &url(&format!("https://{count}.example/")), "nonce");
    }
    assert_eq!(prover.nonces.lock().unwrap().len(), DPOP_NONCES);
}

// A2 B62
#[test]
fn key_survives_storage_and_is_not_printed() {
    let prover = Prover::generate().unwrap();
    let stored = prover.to_pkcs8().unwrap();
    let again = Prover::from_pkcs8(&stored).unwrap();
    assert_eq!(again.thumbprint(), prover.thumbprint());
    assert_eq!(format!("{prover:?}"), format!("Prover({:?})", prover.thumbprint()));
    assert_eq!(Prover::from_pkcs8(&Secret::new(vec![1, 2, 3])).unwrap_err(), ProverError);
}

// A1
#[test]
fn tokens_are_bound_when_the_protected_server_wants_it() {
    let listing = |names: &[&str]| crate::metadata::AuthServerMetadata { dpop: words(names), ..server() };
    let resource = |dpop_required| ResourceMetadata {
        resource: String::new(),
        authorization_servers: Vec::new(),
        scopes: Vec::new(),
        dpop_required,
    };
    let (free, strict) = (resource(false), resource(true));
    let table = [
        (listing(&["ES256"]), Some(&free), "Bearer", TokenBinding::Unbound),
        (listing(&["ES256"]), None, "", TokenBinding::Unbound),
        (listing(&["RS256", "ES256"]), None, "DPoP", TokenBinding::Offered),
        (listing(&["ES256"]), None, "Bearer, DPoP", TokenBinding::Offered),
        (listing(&[]), Some(&free), "DPoP", TokenBinding::Offered),
        (listing(&["RS256"]), Some(&free), "DPoP", TokenBinding::Unbound),
        (listing(&["ES256"]), Some(&strict), "Bearer", TokenBinding::Required),
        (listing(&[]), Some(&strict), "", TokenBinding::Required),
    ];
    for (server, resource, words, wanted) in table {
        let asked = TokenChallenge::parse(words);
        assert_eq!(
            choose_token_binding(&server, resource, asked.as_ref()),
            wanted,
            "{:?} {words}",
            server.dpop
        );
    }
}

// A1
#[test]
fn token_with_the_wrong_binding_is_refused() {
    let prover = Prover::generate().unwrap();
    let check = |wish, kind| Possession::new(wish, &prover).check_token_kind(kind);
    assert!(matches!(check(TokenBinding::Required, Kind::Bearer), Err(TokenError::NotBound)));
    assert!(matches!(check(TokenBinding::Unbound, Kind::Dpop), Err(TokenError::UnexpectedlyBound)));
    for (wish, kind) in [
        (TokenBinding::Unbound, Kind::Bearer),
        (TokenBinding::Offered, Kind::Bearer),
        (TokenBinding::Offered, Kind::Dpop),
        (TokenBinding::Required, Kind::Dpop),
    ] {
        assert!(check(wish, kind).is_ok(), "{wish:?} {kind:?}");
    }
}
