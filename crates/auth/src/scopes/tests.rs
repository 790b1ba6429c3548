//! Which scopes are asked for.

use super::*;
use crate::tokens::Kind;
use url::Url;

fn list(scopes: &str) -> Vec<String> {
    scopes.split_whitespace().map(str::to_owned).collect()
}

fn server(scopes: &str) -> Server {
    let place = Url::parse("https://a.example/token").unwrap();
    Server { scopes: list(scopes), ..Server::new("https://a.example".to_owned(), place) }
}

fn chosen(configured: &str, challenged: &str, known: &str, offered: &str, renewal: Renewal) -> String {
    let asked = Asked {
        scheme: Kind::Bearer,
        takes_either: false,
        error: None,
        scope: list(challenged),
        resource_metadata: None,
        description: None,
    };
    let resource = Resource {
        resource: "https://r.example".to_owned(),
        authorization_servers: Vec::new(),
        scopes: list(known),
        dpop_required: false,
    };
    let server = server(offered);
    select(&list(configured), Some(&asked), Some(&resource), &server, renewal).join(" ")
}

// A1
#[test]
fn what_is_configured_wins_then_the_challenge_then_what_the_server_knows() {
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
    assert_eq!(select(&[], None, None, &server(""), Wanted), [""; 0]);
}

// K4
#[test]
fn rights_that_were_asked_for_once_are_asked_for_again() {
    assert_eq!(union(&list("b a"), &list("c a d c")), list("b a c d"));
    assert_eq!(union(&[], &list("c")), list("c"));
    assert_eq!(union(&list("c"), &[]), list("c"));
}
