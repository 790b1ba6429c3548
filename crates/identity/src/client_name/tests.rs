//! Tests of the names of clients: an account for each subject, and no address of a person.

use std::time::SystemTime;

use serde_json::json;

use super::*;

fn identity(claims: Value) -> ClientIdentity {
    let checked = CheckedClaims {
        subject: claims["sub"].as_str().unwrap().to_owned(),
        expires: SystemTime::UNIX_EPOCH,
        audiences: Vec::new(),
    };
    let Value::Object(claims) = claims else { panic!("claims") };
    client_identity(&Arc::from("https://issuer.example"), (&claims, &checked), "canary")
}

// G4 G6
#[test]
fn name_for_people_is_no_email_address_and_cannot_pass_for_another_account() {
    let name = |claims: Value| identity(claims).display_name.to_string();
    let account = identity(json!({ "sub": "1" })).account.to_string();
    let short = &account["jwt:".len()..][..6];
    assert_eq!(name(json!({ "sub": "1", "preferred_username": "ada" })), format!("ada (jwt:{short})"));
    assert_eq!(
        name(json!({ "sub": "1", "preferred_username": "ada@a.example", "name": "Ada" })),
        format!("Ada (jwt:{short})")
    );
    assert_eq!(name(json!({ "sub": "1" })), format!("1 (jwt:{short})"));
    assert_eq!(
        name(json!({ "sub": "1", "name": "token:ada\n`\u{202e}x" })),
        format!("token:ada  x (jwt:{short})")
    );
    let address = identity(json!({ "sub": "ada@a.example" }));
    assert_eq!(address.display_name, address.account);
}

// G4
#[test]
fn account_is_of_issuer_and_subject() {
    assert_eq!(account_hash("https://a.example", "1"), account_hash("https://a.example", "1"));
    assert_ne!(account_hash("https://a.example", "1"), account_hash("https://a.example", "2"));
    assert_ne!(account_hash("https://a.example1", "1"), account_hash("https://a.example", "11"));
}

// G4
#[test]
fn scopes_are_words_or_a_list() {
    let scopes = |claims: Value| identity(claims).scopes.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(scopes(json!({ "sub": "1", "scope": "a b" })), ["a", "b"]);
    assert_eq!(scopes(json!({ "sub": "1", "scp": ["a", "b"] })), ["a", "b"]);
    assert_eq!(scopes(json!({ "sub": "1" })), [""; 0]);
}

// G4 B91
#[test]
fn printed_identity_has_neither_token_nor_claims() {
    let identity = identity(json!({ "sub": "1", "email": "ada@a.example" }));
    let text = format!("{identity:?} {:?}", identity.subject_token);
    assert!(!text.contains("canary") && !text.contains("ada@"), "{text}");
    assert_eq!(identity.subject_token.unwrap().token.expose(), "canary");
}

// G4 G6
#[test]
fn subject_is_among_the_claims_however_many_others_there_are() {
    let groups: Vec<String> = (0..2 * TOKEN_GRANTS).map(|number| format!("group-{number}")).collect();
    let claims = identity(json!({ "groups": groups, "sub": "ada" })).claims;
    assert_eq!(claims.len(), TOKEN_GRANTS);
    assert!(claims.iter().any(|(name, value)| (&**name, &**value) == ("sub", "ada")));
}
