//! `WWW-Authenticate` headers of real servers, and their parsed form.

use super::*;
use proptest::prelude::*;

fn asked(scheme: Kind) -> TokenChallenge {
    TokenChallenge::new(scheme)
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn list(scopes: &[&str]) -> Vec<String> {
    scopes.iter().map(|scope| (*scope).to_owned()).collect()
}

// A1 K4
#[test]
fn challenges_of_the_specification_are_parsed() {
    let words =
        r#"Bearer resource_metadata="https://a.example/.well-known/x", scope="files:read files:write""#;
    let wanted = TokenChallenge {
        resource_metadata: text("https://a.example/.well-known/x"),
        scope: list(&["files:read", "files:write"]),
        ..asked(Kind::Bearer)
    };
    assert_eq!(TokenChallenge::parse(words), Some(wanted));
    let words = r#"Bearer error="insufficient_scope", scope="w", error_description="say \"please\"""#;
    let wanted = TokenChallenge {
        error: text("insufficient_scope"),
        scope: list(&["w"]),
        description: Some(Untrusted::new("say \"please\"")),
        ..asked(Kind::Bearer)
    };
    assert_eq!(TokenChallenge::parse(words), Some(wanted));
    let words = r#"DPoP error="use_dpop_nonce", algs="ES256""#;
    assert_eq!(
        TokenChallenge::parse(words),
        Some(TokenChallenge { error: text("use_dpop_nonce"), ..asked(Kind::Dpop) })
    );
}

// A1
#[test]
fn malformed_challenges_are_parsed_leniently() {
    let wanted = Some(TokenChallenge { error: text("e"), scope: list(&["a", "b"]), ..asked(Kind::Bearer) });
    for words in [
        r#"Bearer error="e", scope="a b""#,
        r#"bearer ERROR=e,Scope="a b""#,
        r#"BEARER  error = e ,, scope	=	"a  b" ,"#,
        r#",Bearer error="e" scope="a b""#,
        r#"Bearer, error="e", scope="a b""#,
        r#"Bearer error="e", error="other", scope="a b", scope="c""#,
        r#"Bearer error="e", @@@, scope="a b""#,
        r#"Basic realm="Bearer error=\"x\", scope=\"y\"", Bearer error="e", scope="a b""#,
        r#"Negotiate YII/abc+==, Bearer error="e", scope="a b", Basic scope="none""#,
        r#"Bearer error="e", scope="a b", Digest error=x, scope=y, resource_metadata=z"#,
    ] {
        assert_eq!(TokenChallenge::parse(words), wanted, "{words}");
    }
    let unclosed = r#"Bearer error="e", scope="a b"#;
    assert_eq!(
        TokenChallenge::parse(unclosed),
        Some(TokenChallenge { error: text("e"), ..asked(Kind::Bearer) })
    );
}

// A1
#[test]
fn a_bare_scheme_and_an_unquoted_address_are_enough() {
    assert_eq!(TokenChallenge::parse("Bearer"), Some(asked(Kind::Bearer)));
    let words = "Bearer resource_metadata=https://a.example/x?y=z, scope=a";
    let wanted = TokenChallenge {
        resource_metadata: text("https://a.example/x?y=z"),
        scope: list(&["a"]),
        ..asked(Kind::Bearer)
    };
    assert_eq!(TokenChallenge::parse(words), Some(wanted));
}

// A1
#[test]
fn challenge_without_a_token_scheme_is_ignored() {
    for words in
        ["", " ", ",,,", "Basic realm=\"x\"", "Bearer=1", "scope=\"a\"", "\"Bearer\"", "Bearer/1 x=y"]
    {
        assert_eq!(TokenChallenge::parse(words), None, "{words}");
    }
    assert_eq!(TokenChallenge::parse(&format!("Bearer {}", "x".repeat(CHALLENGE_CHARS * 4))), None);
}

// A1
#[test]
fn challenge_with_an_error_is_chosen_and_completed_by_the_others() {
    let words =
        r#"Bearer resource_metadata="m", scope="s", error_description="d", DPoP error="use_dpop_nonce""#;
    let wanted = TokenChallenge {
        takes_either: true,
        error: text("use_dpop_nonce"),
        scope: list(&["s"]),
        resource_metadata: text("m"),
        ..asked(Kind::Dpop)
    };
    assert_eq!(TokenChallenge::parse(words), Some(wanted));
    let both = TokenChallenge { takes_either: true, ..asked(Kind::Bearer) };
    assert_eq!(TokenChallenge::parse("Bearer, DPoP"), Some(both));
}

// A1
#[test]
fn invalid_error_codes_and_scopes_are_left_out() {
    let long = "e".repeat(ERROR_CHARS + 1);
    for error in ["", "a\\\\b", "\u{202e}", &long] {
        let read = TokenChallenge::parse(&format!("Bearer error=\"{error}\", scope=\"a \u{1b}[2J b\""));
        assert_eq!(read, Some(TokenChallenge { scope: list(&["a", "b"]), ..asked(Kind::Bearer) }), "{error}");
    }
    let many = "s ".repeat(OAUTH_NAMES + 1);
    let read = TokenChallenge::parse(&format!("Bearer scope=\"{many}\"")).unwrap();
    assert_eq!(read.scope.len(), OAUTH_NAMES);
}

/// The challenge in its canonical form.
fn written(asked: &TokenChallenge) -> String {
    let mut words = asked.scheme.as_str().to_owned();
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"");
    let scope = (!asked.scope.is_empty()).then(|| asked.scope.join(" "));
    let description = asked.description.as_ref().map(|description| description.raw().to_owned());
    let all = [
        ("error", asked.error.clone()),
        ("scope", scope),
        ("resource_metadata", asked.resource_metadata.clone()),
        ("error_description", description),
    ];
    let present = all.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)));
    for (index, (name, value)) in present.enumerate() {
        let mark = if index == 0 { " " } else { ", " };
        words = format!("{words}{mark}{name}=\"{}\"", escaped(&value));
    }
    let other = if asked.scheme == Kind::Bearer { Kind::Dpop } else { Kind::Bearer };
    if asked.takes_either { format!("{words}, {}", other.as_str()) } else { words }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    // B65-B98 mutated: no text panics, and a parsed challenge parses again to the same value.
    #[test]
    fn any_text_parses_the_same_after_normalization(words in any::<String>()) {
        let read = TokenChallenge::parse(&words);
        let again = read.as_ref().and_then(|asked| TokenChallenge::parse(&written(asked)));
        prop_assert_eq!(read, again);
    }

    #[test]
    fn mutated_challenge_parses_the_same_after_normalization(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("Bearer ".to_owned()), Just("DPoP ".to_owned()), Just("Basic ".to_owned()),
                Just("error=".to_owned()), Just("scope=".to_owned()), Just("resource_metadata=".to_owned()),
                Just("error_description=".to_owned()), Just("\"".to_owned()), Just("\\".to_owned()),
                Just(", ".to_owned()), Just("=".to_owned()), Just("==".to_owned()), Just("\u{e9}".to_owned()),
                Just("https://a.example/x".to_owned()), "[ -~]{0,8}",
            ],
            0..24,
        ),
    ) {
        let read = TokenChallenge::parse(&parts.concat());
        let again = read.as_ref().and_then(|asked| TokenChallenge::parse(&written(asked)));
        prop_assert_eq!(read, again);
    }
}
