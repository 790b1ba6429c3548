//! The scopes that are requested.

use super::*;
use crate::tokens::Kind;
use url::Url;

fn list(scopes: &str) -> Vec<String> {
    scopes.split_whitespace().map(str::to_owned).collect()
}

fn server(scopes: &str) -> AuthServerMetadata {
    let place = Url::parse("https://a.example/token").unwrap();
    AuthServerMetadata {
        scopes: list(scopes),
        ..AuthServerMetadata::new("https://a.example".to_owned(), place)
    }
}

fn chosen(configured: &str, challenged: &str, known: &str, offered: &str, renewal: Renewal) -> String {
    let asked = TokenChallenge {
        scheme: Kind::Bearer,
        takes_either: false,
        error: None,
        scope: list(challenged),
        resource_metadata: None,
        description: None,
    };
    let resource = ResourceMetadata {
        resource: "https://r.example".to_owned(),
        authorization_servers: Vec::new(),
        scopes: list(known),
        dpop_required: false,
    };
    let server = server(offered);
    select_scopes(&list(configured), Some(&asked), Some(&resource), &server, renewal).join(" ")
}

// A1
#[test]
fn configured_scopes_come_before_challenge_and_metadata() {
    use Renewal::{Unwanted, Wanted};
    for (configured, challenged, known, offered, renewal, wanted) in [
        ("c", "a", "k", "", Wanted, "c"),
        ("", "a b", "k", "", Wanted, "a b"),
        ("", "", "k l m", "", Wanted, "k l m"),
        ("", "", "", "", Wanted, ""),
        ("", "", "", "x y", Wanted, ""),
        ("", "", "k", "k offline_access", Wanted, "k offline_access"),
        ("c", "", "", "offline_access", Wanted, "c offline_access"),
        ("", "", "k", "k offline_access", Unwanted, "k"),
        ("", "", "k l", "k l", Wanted, "k l"),
        ("", "", "", "offline_access", Wanted, ""),
        ("", "offline_access a", "", "offline_access", Wanted, "offline_access a"),
        ("", "a b a", "", "", Wanted, "a b"),
    ] {
        let found = chosen(configured, challenged, known, offered, renewal);
        assert_eq!(found, wanted, "{configured:?} {challenged:?} {known:?} {offered:?} {renewal:?}");
    }
    assert_eq!(select_scopes(&[], None, None, &server(""), Wanted), [""; 0]);
}

// K4
#[test]
fn merging_scopes_keeps_the_earlier_ones() {
    assert_eq!(merge_scopes(&list("b a"), &list("c a d c")), list("b a c d"));
    assert_eq!(merge_scopes(&[], &list("c")), list("c"));
    assert_eq!(merge_scopes(&list("c"), &[]), list("c"));
}
