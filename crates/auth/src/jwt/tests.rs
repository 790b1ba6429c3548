//! Signatures are verified with the public key, and parsed tokens are bounded.

use std::time::UNIX_EPOCH;

use aws_lc_rs::encoding::{AsDer as _, EcPrivateKeyRfc5915Der, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED,
    ECDSA_P384_SHA384_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;

/// The header of a PKCS#8 document around an RSA key of 2048 bits.
const RSA_2048_WRAPPING: usize = 26;

struct Case {
    pem: Secret<String>,
    algorithm: Algorithm,
    public: Vec<u8>,
    verifies: &'static dyn VerificationAlgorithm,
}

fn pem(label: &str, der: &[u8]) -> Secret<String> {
    Secret::new(format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der)))
}

fn cases() -> Vec<Case> {
    let p256 = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let p384 = EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap();
    let rsa = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let edwards = Ed25519KeyPair::generate().unwrap();
    let sec1: EcPrivateKeyRfc5915Der<'_> = p256.private_key().as_der().unwrap();
    let rsa_der: Pkcs8V1Der<'_> = rsa.as_der().unwrap();
    let case =
        |pem, algorithm, public: &[u8], verifies| Case { pem, algorithm, public: public.to_vec(), verifies };
    let in_p256 = p256.public_key().as_ref();
    let in_rsa = rsa.public_key().as_ref();
    let pkcs8 = |der: &[u8]| pem("PRIVATE KEY", der);
    vec![
        case(pkcs8(p256.to_pkcs8v1().unwrap().as_ref()), Algorithm::Es256, in_p256, &ECDSA_P256_SHA256_FIXED),
        case(pem("EC PRIVATE KEY", sec1.as_ref()), Algorithm::Es256, in_p256, &ECDSA_P256_SHA256_FIXED),
        case(
            pkcs8(p384.to_pkcs8v1().unwrap().as_ref()),
            Algorithm::Es384,
            p384.public_key().as_ref(),
            &ECDSA_P384_SHA384_FIXED,
        ),
        case(pkcs8(rsa_der.as_ref()), Algorithm::Rs256, in_rsa, &RSA_PKCS1_2048_8192_SHA256),
        case(pkcs8(rsa_der.as_ref()), Algorithm::Ps256, in_rsa, &RSA_PSS_2048_8192_SHA256),
        case(
            pem("RSA PRIVATE KEY", &rsa_der.as_ref()[RSA_2048_WRAPPING..]),
            Algorithm::Rs256,
            in_rsa,
            &RSA_PKCS1_2048_8192_SHA256,
        ),
        case(
            pkcs8(edwards.to_pkcs8v1().unwrap().as_ref()),
            Algorithm::EdDsa,
            edwards.public_key().as_ref(),
            &ED25519,
        ),
    ]
}

// A8
#[test]
fn token_of_every_key_type_is_verified_by_its_public_key() {
    for Case { pem, algorithm, public, verifies } in cases() {
        let key = SigningKey::from_pem(&pem).unwrap();
        let header = json!({"alg": algorithm.as_str(), "typ": "JWT"});
        let token =
            sign_token(&header, &json!({"iss": "me"}), |text| key.sign_message(algorithm, text)).unwrap();
        let (message, signature) = token.expose().rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let public = UnparsedPublicKey::new(verifies, public);
        assert!(public.verify(message.as_bytes(), &signature).is_ok(), "{algorithm:?}");
        assert!(public.verify(b"something else", &signature).is_err(), "{algorithm:?}");
        assert_eq!(parse_claims(&token).unwrap().issuer.as_deref(), Some("me"));
    }
}

// A8
#[test]
fn algorithm_follows_from_the_key_and_the_server_list() {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let cases = cases();
    let (p256, rsa) =
        (SigningKey::from_pem(&cases[0].pem).unwrap(), SigningKey::from_pem(&cases[3].pem).unwrap());
    let table = [
        (&p256, None, Some(Algorithm::Es256)),
        (&p256, Some(names(&[])), Some(Algorithm::Es256)),
        (&p256, Some(names(&["RS256", "ES256"])), Some(Algorithm::Es256)),
        (&p256, Some(names(&["RS256", "none"])), None),
        (&rsa, None, Some(Algorithm::Rs256)),
        (&rsa, Some(names(&["PS256", "ES256"])), Some(Algorithm::Ps256)),
        (&rsa, Some(names(&["HS256"])), None),
    ];
    for (key, listed, wanted) in table {
        assert_eq!(key.choose_algorithm(listed.as_deref()), wanted, "{key:?} {listed:?}");
    }
    assert_eq!(p256.sign_message(Algorithm::Rs256, b"text"), Err(SignError::Key));
}

// B62
#[test]
fn invalid_key_is_refused_without_quoting_it() {
    let table = [
        ("", KeyError::NoKey),
        ("canary", KeyError::NoKey),
        ("-----BEGIN CERTIFICATE-----\nY2FuYXJ5\n-----END CERTIFICATE-----\n", KeyError::NoKey),
        ("-----BEGIN PRIVATE KEY-----\nY2FuYXJ5\n-----END PRIVATE KEY-----\n", KeyError::Unknown),
        ("-----BEGIN EC PRIVATE KEY-----\nY2FuYXJ5\n-----END EC PRIVATE KEY-----\n", KeyError::Unknown),
        ("-----BEGIN RSA PRIVATE KEY-----\nY2FuYXJ5\n-----END RSA PRIVATE KEY-----\n", KeyError::Unknown),
        (
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nY2FuYXJ5\n-----END ENCRYPTED PRIVATE KEY-----\n",
            KeyError::Encrypted,
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nY2FuYXJ5\n-----END RSA PRIVATE KEY-----\n",
            KeyError::Encrypted,
        ),
    ];
    for (text, wanted) in table {
        let error = SigningKey::from_pem(&Secret::new(text.to_owned())).unwrap_err();
        assert_eq!(error, wanted, "{text}");
        assert!(!format!("{error} {error:?}").contains("Y2FuYXJ5"));
    }
}

// B62
#[test]
fn signing_key_is_not_printed() {
    let key = SigningKey::from_pem(&cases()[0].pem).unwrap();
    assert_eq!(format!("{key:?}"), "SigningKey([Es256])");
}

// B83
#[test]
fn every_claim_is_parsed_in_each_of_its_forms() {
    let header = json!({"alg": "ES256", "typ": "oauth-id-jag+jwt"});
    let claims = json!({
        "iss": "https://idp.example", "sub": "U1", "aud": ["a", "b"], "exp": 1_311_281_970.5, "iat": 1_311_280_970,
        "nonce": "n", "azp": "p", "resource": "https://mcp.example/", "client_id": "c", "jti": 5,
    });
    let token = sign_token(&header, &claims, |_| Ok(vec![1])).unwrap();
    let wanted = Claims {
        kind: Some("oauth-id-jag+jwt".to_owned()),
        issuer: Some("https://idp.example".to_owned()),
        subject: Some("U1".to_owned()),
        audiences: vec!["a".to_owned(), "b".to_owned()],
        expires: UNIX_EPOCH.checked_add(std::time::Duration::from_millis(1_311_281_970_500)),
        issued: UNIX_EPOCH.checked_add(std::time::Duration::from_secs(1_311_280_970)),
        nonce: Some(Secret::new("n".to_owned())),
        party: Some("p".to_owned()),
        resources: vec!["https://mcp.example/".to_owned()],
        client: Some("c".to_owned()),
    };
    assert_eq!(parse_claims(&token), Ok(wanted));
}

// B83
#[test]
fn claims_of_the_wrong_type_count_as_absent() {
    let claims = json!({"iss": 1, "aud": ["a", 2], "exp": "soon", "iat": -1, "nonce": null, "resource": {}});
    let token = sign_token(&json!({}), &claims, |_| Ok(vec![1])).unwrap();
    assert_eq!(parse_claims(&token), Ok(Claims::default()));
}

// B83
#[test]
fn unsigned_or_malformed_token_is_refused() {
    let deep = encode_base64url(format!("{}1{}", "[".repeat(500), "]".repeat(500)));
    let table = [
        (String::new(), JwtError::Shape),
        ("e30.e30".to_owned(), JwtError::Shape),
        ("e30.e30.".to_owned(), JwtError::Shape),
        ("e30.e30.AA.AA".to_owned(), JwtError::Shape),
        ("e30.!!.AA".to_owned(), JwtError::Shape),
        ("e30.W10.AA".to_owned(), JwtError::Shape),
        (format!("e30.{deep}.AA"), JwtError::Shape),
        ("x".repeat(64 * 1024 + 1), JwtError::TooLong),
    ];
    for (token, wanted) in table {
        assert_eq!(parse_claims(&Secret::new(token.clone())), Err(wanted), "{token:.40}");
    }
}
