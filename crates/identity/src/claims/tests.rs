//! Tests of the claims that a token needs, and of clock skew.

use serde_json::json;

use super::*;

const ISSUER: &str = "https://issuer.example";
const NOW: u64 = 2_000_000_000;

fn check(change: impl FnOnce(&mut Value)) -> Result<CheckedClaims, AccessRefusal> {
    let mut claims = json!({ "iss": ISSUER, "sub": "ada", "aud": "https://a.example/mcp", "exp": NOW + 60 });
    change(&mut claims);
    check_claims(claims.as_object().unwrap(), ISSUER, UNIX_EPOCH + Duration::from_secs(NOW))
}

// G4 B88
#[test]
fn wrong_claim_is_refused_with_its_reason() {
    use AccessRefusal::{Bound, Expired, Issuer, NoExpiry, NotYetValid, Subject};
    let with = |name: &'static str, value: Value| check(move |claims| claims[name] = value);
    let cases = [
        ("iss", json!("https://issuer.example/"), Issuer),
        ("iss", json!("HTTPS://issuer.example"), Issuer),
        ("iss", json!(null), Issuer),
        ("iss", json!([ISSUER]), Issuer),
        ("sub", json!(""), Subject),
        ("sub", json!(7), Subject),
        ("exp", json!(null), NoExpiry),
        ("exp", json!("2000000060"), NoExpiry),
        ("exp", json!(-1), NoExpiry),
        ("exp", json!(1e300), NoExpiry),
        ("exp", json!(0), Expired),
        ("nbf", json!("soon"), NotYetValid),
        ("iat", json!(1e300), NotYetValid),
        ("cnf", json!({ "jkt": "x" }), Bound),
    ];
    for (name, value, expected) in cases {
        assert_eq!(with(name, value.clone()), Err(expected), "{name} {value}");
    }
}

// G4
#[test]
fn clocks_may_differ_by_thirty_seconds() {
    let at = |name: &'static str, offset: i64| {
        let date = i64::try_from(NOW).unwrap() + offset;
        check(move |claims| claims[name] = json!(date)).map(drop)
    };
    assert_eq!(at("exp", -29), Ok(()));
    assert_eq!(at("exp", -30), Err(AccessRefusal::Expired));
    for name in ["nbf", "iat"] {
        assert_eq!(at(name, 30), Ok(()), "{name}");
        assert_eq!(at(name, 31), Err(AccessRefusal::NotYetValid), "{name}");
    }
}

// G4
#[test]
fn audiences_are_one_text_or_a_list() {
    let audiences = |value: Value| check(|claims| claims["aud"] = value).unwrap().audiences;
    assert_eq!(audiences(json!("a")), ["a"]);
    assert_eq!(audiences(json!(["a", 7, "b"])), ["a", "b"]);
    assert_eq!(audiences(json!({ "a": "b" })), [""; 0]);
}
