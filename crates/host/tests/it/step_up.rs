//! Calls that need more rights than the sign-in has.

use mcparley::CallError;
use mcparley_testkit::AuthServer;

use crate::alive::is_connected;
use crate::signing::{Home, Person, Signed, count, guarded};
use crate::together;

/// A host that is signed in to a server whose calls need the scope `more` besides.
async fn short_of_rights(lies: &[&str], person: Option<&Person>) -> (AuthServer, Home, Signed) {
    let lies = [&["scope:basic", "step-up:more"], lies].concat();
    let server = AuthServer::start(&lies);
    let home = Home::new([("s", guarded(&server))]);
    let it = home
        .host_as(|builder| match person {
            Some(person) => builder.page_opener(person.clone()),
            None => builder,
        })
        .await;
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    assert_eq!(server.stats()["last"]["authorize"]["scope"], "basic");
    (server, home, it)
}

// K4 A3 H31
#[tokio::test]
async fn call_that_needs_scopes_asks_the_user_once_and_is_repeated() {
    let person = Person::default();
    let (server, _home, it) = short_of_rights(&[], Some(&person)).await;
    assert_eq!(it.echo("s").await.unwrap(), "hi");
    assert_eq!(person.shown(), ["s"]);
    assert_eq!(server.stats()["last"]["authorize"]["scope"], "basic more");
    assert_eq!(it.echo("s").await.unwrap(), "hi");
    assert_eq!(count(&server, "refused", "insufficient_scope"), 1);
}

// K4 H31
#[tokio::test]
async fn concurrent_calls_that_need_scopes_open_one_page() {
    let person = Person::default();
    let (server, _home, it) = short_of_rights(&[], Some(&person)).await;
    let answers = together((0..10).map(|_| it.echo("s"))).await;
    for answer in answers {
        assert_eq!(answer.unwrap(), "hi");
    }
    assert_eq!(person.shown(), ["s"]);
    assert_eq!(count(&server, "requests", "authorize"), 2);
}

// K4 F46 H31 B114
#[tokio::test]
async fn server_that_always_wants_more_scopes_fails_after_one_sign_in_per_call() {
    let person = Person::default();
    let (server, _home, it) = short_of_rights(&["step-up-ends:no"], Some(&person)).await;
    for calls in 1..=2 {
        let error = it.echo("s").await.unwrap_err();
        assert!(matches!(error, CallError::MissingScopes { .. }), "{error}");
        assert!(person.shown().len() <= calls, "{:?}", person.shown());
    }
    assert!(count(&server, "requests", "authorize") <= 3);
    assert!(is_connected(&it.status("s")));
}

// K4 A3
#[tokio::test]
async fn without_a_user_the_error_names_missing_scopes_and_the_next_sign_in_requests_them() {
    let (server, home, it) = short_of_rights(&[], None).await;
    let error = it.echo("s").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`mcp__s__echo` needs scopes that the sign-in to `s` does not have: `more`"
    );
    assert_eq!(error.hint().as_deref(), Some("run `mcparley login s` to grant them"));
    assert!(!error.is_outcome_unknown());
    // Another process signs in, and this one uses its token.
    home.host().await.sign_in("s").await;
    assert_eq!(server.stats()["last"]["authorize"]["scope"], "basic more");
    assert_eq!(it.echo("s").await.unwrap(), "hi");
}

// K4
#[tokio::test]
async fn a_page_that_cannot_be_shown_is_not_waited_for() {
    let person = Person::without_screen();
    let (_server, _home, it) = short_of_rights(&[], Some(&person)).await;
    let error = it.echo("s").await.unwrap_err();
    assert!(matches!(error, CallError::MissingScopes { .. }), "{error}");
}
