//! What servers write into `WWW-Authenticate`, and what is understood of it.

use super::*;
use proptest::prelude::*;

fn asked(scheme: Kind) -> Asked {
    Asked::new(scheme)
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn list(scopes: &[&str]) -> Vec<String> {
    scopes.iter().map(|scope| (*scope).to_owned()).collect()
}

// A1 K4
#[test]
fn the_challenges_of_the_specification_are_read() {
    let words =
        r#"Bearer resource_metadata="https://a.example/.well-known/x", scope="files:read files:write""#;
    let wanted = Asked {
        resource_metadata: text("https://a.example/.well-known/x"),
        scope: list(&["files:read", "files:write"]),
        ..asked(Kind::Bearer)
    };
    assert_eq!(Asked::read(words), Some(wanted));
    let words = r#"Bearer error="insufficient_scope", scope="w", error_description="say \"please\"""#;
    let wanted = Asked {
        error: text("insufficient_scope"),
        scope: list(&["w"]),
        description: Some(Untrusted::new("say \"please\"")),
        ..asked(Kind::Bearer)
    };
    assert_eq!(Asked::read(words), Some(wanted));
    let words = r#"DPoP error="use_dpop_nonce", algs="ES256""#;
    assert_eq!(Asked::read(words), Some(Asked { error: text("use_dpop_nonce"), ..asked(Kind::Dpop) }));
}

// A1
#[test]
fn odd_spellings_are_read_as_they_are_meant() {
    let wanted = Some(Asked { error: text("e"), scope: list(&["a", "b"]), ..asked(Kind::Bearer) });
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
        assert_eq!(Asked::read(words), wanted, "{words}");
    }
    let unclosed = r#"Bearer error="e", scope="a b"#;
    assert_eq!(Asked::read(unclosed), Some(Asked { error: text("e"), ..asked(Kind::Bearer) }));
}

// A1
#[test]
fn a_bare_scheme_and_an_unquoted_address_are_enough() {
    assert_eq!(Asked::read("Bearer"), Some(asked(Kind::Bearer)));
    let words = "Bearer resource_metadata=https://a.example/x?y=z, scope=a";
    let wanted = Asked {
        resource_metadata: text("https://a.example/x?y=z"),
        scope: list(&["a"]),
        ..asked(Kind::Bearer)
    };
    assert_eq!(Asked::read(words), Some(wanted));
}

// A1
#[test]
fn what_is_not_about_tokens_asks_for_nothing() {
    for words in
        ["", " ", ",,,", "Basic realm=\"x\"", "Bearer=1", "scope=\"a\"", "\"Bearer\"", "Bearer/1 x=y"]
    {
        assert_eq!(Asked::read(words), None, "{words}");
    }
    assert_eq!(Asked::read(&format!("Bearer {}", "x".repeat(CHALLENGE_CHARS * 4))), None);
}

// A1
#[test]
fn of_several_challenges_the_one_with_the_error_counts_and_the_others_complete_it() {
    let words =
        r#"Bearer resource_metadata="m", scope="s", error_description="d", DPoP error="use_dpop_nonce""#;
    let wanted = Asked {
        takes_either: true,
        error: text("use_dpop_nonce"),
        scope: list(&["s"]),
        resource_metadata: text("m"),
        ..asked(Kind::Dpop)
    };
    assert_eq!(Asked::read(words), Some(wanted));
    let both = Asked { takes_either: true, ..asked(Kind::Bearer) };
    assert_eq!(Asked::read("Bearer, DPoP"), Some(both));
}

// A1
#[test]
fn names_that_could_deceive_are_left_out() {
    let long = "e".repeat(ERROR_CHARS + 1);
    for error in ["", "a\\\\b", "\u{202e}", &long] {
        let read = Asked::read(&format!("Bearer error=\"{error}\", scope=\"a \u{1b}[2J b\""));
        assert_eq!(read, Some(Asked { scope: list(&["a", "b"]), ..asked(Kind::Bearer) }), "{error}");
    }
    let many = "s ".repeat(OAUTH_NAMES + 1);
    let read = Asked::read(&format!("Bearer scope=\"{many}\"")).unwrap();
    assert_eq!(read.scope.len(), OAUTH_NAMES);
}

/// The same again, as an orderly server writes it.
fn written(asked: &Asked) -> String {
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

    // B65-B98 mutated: no text makes it fail, and what was understood is understood again.
    #[test]
    fn whatever_is_read_is_read_the_same_once_it_is_in_order(words in any::<String>()) {
        let read = Asked::read(&words);
        let again = read.as_ref().and_then(|asked| Asked::read(&written(asked)));
        prop_assert_eq!(read, again);
    }

    #[test]
    fn mutated_challenges_are_read_the_same_once_they_are_in_order(
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
        let read = Asked::read(&parts.concat());
        let again = read.as_ref().and_then(|asked| Asked::read(&written(asked)));
        prop_assert_eq!(read, again);
    }
}
