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
async fn a_call_that_needs_more_rights_asks_the_person_once_for_all_of_them_and_is_repeated() {
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
async fn calls_at_the_same_time_that_need_more_rights_open_one_page() {
    let person = Person::default();
    let (server, _home, it) = short_of_rights(&[], Some(&person)).await;
    let answers = together((0..10).map(|_| it.echo("s"))).await;
    for answer in answers {
        assert_eq!(answer.unwrap(), "hi");
    }
    assert_eq!(person.shown(), ["s"]);
    assert_eq!(count(&server, "requests", "authorize"), 2);
}

// K4 H31 B114
#[tokio::test]
async fn a_server_that_never_has_enough_ends_with_an_error_after_one_sign_in_for_each_call() {
    let person = Person::default();
    let (server, _home, it) = short_of_rights(&["step-up-ends:no"], Some(&person)).await;
    for calls in 1..=2 {
        let error = it.echo("s").await.unwrap_err();
        assert!(matches!(error, CallError::Rights { .. }), "{error}");
        assert!(person.shown().len() <= calls, "{:?}", person.shown());
    }
    assert!(count(&server, "requests", "authorize") <= 3);
    assert!(is_connected(&it.status("s")));
}

// K4 A3
#[tokio::test]
async fn without_a_person_the_error_says_what_is_missing_and_the_next_sign_in_asks_for_it() {
    let (server, home, it) = short_of_rights(&[], None).await;
    let error = it.echo("s").await.unwrap_err();
    assert_eq!(error.to_string(), "`mcp__s__echo` needs more rights than the sign-in to `s` has: `more`");
    assert_eq!(error.hint().as_deref(), Some("`mcparley login s` asks for them"));
    assert!(!error.is_outcome_unknown());
    // Another process signs in, and this one goes on with what it got.
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
    assert!(matches!(error, CallError::Rights { .. }), "{error}");
}
