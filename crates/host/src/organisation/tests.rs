//! Where a token may go, what a catalogue may say, and who renews.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcparley_model::config::Spanned;
use mcparley_model::scope::{Origin, Source};
use mcparley_model::secret::Secret;
use mcparley_wire::authorizer::{Authorizer, Challenge, Credentials, Next, Wants};
use mcparley_wire::peer::Boxed;
use serde_json::{Value, json};

use super::*;

/// Counts how often it is asked to renew, and does if it can.
struct Counting {
    current: std::sync::Mutex<String>,
    next: Option<&'static str>,
    renewals: AtomicUsize,
}

impl Counting {
    fn new(next: Option<&'static str>) -> Arc<Self> {
        let current = std::sync::Mutex::new("old".to_owned());
        Arc::new(Self { current, next, renewals: AtomicUsize::new(0) })
    }
}

impl TokenSource for Counting {
    fn current(&self) -> Option<Secret<String>> {
        Some(Secret::new(self.current.lock().unwrap().clone()))
    }

    fn renew<'a>(&'a self, sent: &'a Secret<String>) -> Boxed<'a, Option<Secret<String>>> {
        Box::pin(async move {
            assert_eq!(sent.expose(), "old");
            self.renewals.fetch_add(1, Ordering::Relaxed);
            // Everybody else comes meanwhile: on one thread each gets its turn.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let next = self.next?;
            next.clone_into(&mut self.current.lock().unwrap());
            Some(Secret::new(next.to_owned()))
        })
    }
}

fn sent(token: &str) -> Credentials {
    Credentials::bearer(Secret::new(token.to_owned()))
}

fn refused(wants: Wants) -> Challenge {
    Challenge { wants, words: None }
}

async fn refuse_at_once(bearer: &Arc<Bearer>, callers: usize) -> Vec<Next> {
    let refused = |_| {
        let bearer = Arc::clone(bearer);
        tokio::spawn(async move { bearer.refused(&sent("old"), &refused(Wants::SignIn)).await })
    };
    let mut answers = Vec::new();
    for refused in (0..callers).map(refused).collect::<Vec<_>>() {
        answers.push(refused.await.unwrap());
    }
    answers
}

// T7
#[tokio::test]
async fn many_refused_requests_cause_one_renewal() {
    let source = Counting::new(Some("new"));
    let bearer = Arc::new(Bearer::new(Arc::<Counting>::clone(&source)));
    assert!(refuse_at_once(&bearer, 50).await.iter().all(|next| matches!(next, Next::Again)));
    // Who comes later with the old token finds that somebody has renewed it.
    assert!(matches!(bearer.refused(&sent("old"), &refused(Wants::SignIn)).await, Next::Again));
    assert_eq!(source.renewals.load(Ordering::Relaxed), 1);
}

// T7
#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_given_up_once_for_all() {
    for next in [None, Some("old")] {
        let source = Counting::new(next);
        let bearer = Arc::new(Bearer::new(Arc::<Counting>::clone(&source)));
        assert!(refuse_at_once(&bearer, 50).await.iter().all(|next| matches!(next, Next::GiveUp)));
        assert_eq!(source.renewals.load(Ordering::Relaxed), 1);
    }
}

// T7
#[tokio::test]
async fn missing_rights_are_no_reason_to_renew() {
    let source = Counting::new(Some("new"));
    let bearer = Bearer::new(Arc::<Counting>::clone(&source));
    assert!(matches!(bearer.refused(&sent("old"), &refused(Wants::MoreRights)).await, Next::GiveUp));
    assert_eq!(source.renewals.load(Ordering::Relaxed), 0);
}

// T7
#[test]
fn a_token_goes_only_where_nobody_can_read_it_on_the_way() {
    let at = |url: &str| Organisation::at(url, Counting::new(None)).is_ok();
    for good in [
        "https://o.example",
        "https://o.example/api/",
        "http://127.0.0.1:8080",
        "http://localhost:1/",
        "http://[::1]/",
        " https://o.example ",
    ] {
        assert!(at(good), "{good}");
    }
    for bad in [
        "",
        "o.example",
        "http://o.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "ftp://o.example",
        "file:///etc/passwd",
        "https://name:pass@o.example",
        "https://o.example?key=1",
    ] {
        assert!(!at(bad), "{bad}");
    }
}

// T7
#[test]
fn a_connector_elsewhere_does_not_get_the_token() {
    let organisation = Organisation::at("https://o.example/api", Counting::new(None)).unwrap();
    let target = |url: &str| organisation.target(&url.parse().unwrap()).is_ok();
    assert!(target("https://o.example/v1/mcp/x") && target("https://o.example:443/anything"));
    for elsewhere in [
        "http://o.example/v1/mcp/x",
        "https://o.example:444/",
        "https://evil.example/",
        "https://me@o.example/v1/mcp/x",
    ] {
        assert!(!target(elsewhere), "{elsewhere}");
    }
}

// C1
#[test]
fn the_administrator_wins_over_the_variable_and_that_over_the_user() {
    let origin = || Origin::whole(Source::inline("settings"));
    let base = |layer: Option<Layer>, variable: Option<&str>| {
        let value = "https://settings.example".to_owned();
        let connectors = layer.map(|layer| (layer, Spanned { value, origin: origin() }));
        let settings = Settings { connectors, ..Settings::default() };
        let mut env = Env::default();
        if let Some(variable) = variable {
            env.set("MCPARLEY_CONNECTORS_URL", variable);
        }
        let found = Organisation::configured(&settings, &env, Counting::new(None)).unwrap();
        found.map(|found| found.base.host_str().unwrap().to_owned())
    };
    let variable = Some("https://variable.example");
    assert_eq!(base(None, None), None);
    assert_eq!(base(None, Some("")), None);
    assert_eq!(base(None, variable).as_deref(), Some("variable.example"));
    assert_eq!(base(Some(Layer::User), None).as_deref(), Some("settings.example"));
    assert_eq!(base(Some(Layer::User), variable).as_deref(), Some("variable.example"));
    assert_eq!(base(Some(Layer::Managed), variable).as_deref(), Some("settings.example"));
}

fn listed(pages: &[Value]) -> (Vec<String>, Vec<String>) {
    let base = "https://o.example/api".parse().unwrap();
    let mut listing = Listing::new(&base);
    for page in pages {
        if let Err(error) = listing.take(page.to_string().as_bytes()) {
            listing.lacks(error);
        }
    }
    let Known { connectors, left_out } = listing.finish();
    let line = |connector: crate::Connector| format!("{} {} {}", connector.id, connector.name, connector.url);
    (connectors.into_iter().map(line).collect(), left_out.iter().map(ToString::to_string).collect())
}

// C1 N1
#[test]
fn entries_are_read_one_by_one_and_names_are_told_apart() {
    let (connectors, left_out) = listed(&[json!({ "data": [
        { "id": "a", "display_name": "Slack", "url": "https://o.example/proxy/a" },
        { "id": "b", "name": " Google\n Drive\u{200b} " },
        { "id": "c", "display_name": "Slack", "url": null, "unknown": 1 },
        { "id": "d", "display_name": "Slack (2)" },
        { "id": "e", "display_name": "Slack" },
    ] })]);
    assert_eq!(
        connectors,
        [
            "a Slack https://o.example/proxy/a",
            "b Google Drive https://o.example/api/v1/mcp/b",
            "c Slack (2) https://o.example/api/v1/mcp/c",
            "d Slack (2) (2) https://o.example/api/v1/mcp/d",
            "e Slack (3) https://o.example/api/v1/mcp/e",
        ]
    );
    assert_eq!(left_out, Vec::<String>::new());
}

// C1
#[test]
fn a_bad_entry_is_told_and_takes_nobody_with_it() {
    let elsewhere = "its `url` is not of the catalogue's origin, and the token goes to no other";
    let odd = "its `id` is empty, too long, or has characters that no id has";
    for (entry, why) in [
        (json!("x"), "1 is left out: it is not an object".to_owned()),
        (json!({ "display_name": "X" }), "`X` is left out: it has no `id`".to_owned()),
        (json!({ "id": 7, "display_name": "X" }), "`X` is left out: it has no `id`".to_owned()),
        (json!({ "id": "", "display_name": "X" }), format!("`X` is left out: {odd}")),
        (json!({ "id": "..", "display_name": "X" }), format!("`X` is left out: {odd}")),
        (json!({ "id": "a/../../b", "display_name": "X" }), format!("`X` is left out: {odd}")),
        (json!({ "id": "x" }), "1 is left out: it has no `display_name`".to_owned()),
        (json!({ "id": "x", "name": "\u{202e}" }), "1 is left out: its `display_name` is empty".to_owned()),
        (
            json!({ "id": "x", "name": "n".repeat(101) }),
            "1 is left out: its `display_name` is too long".to_owned(),
        ),
        (
            json!({ "id": "x", "name": "X", "url": "https://evil.example/" }),
            format!("`X` is left out: {elsewhere}"),
        ),
        (
            json!({ "id": "x", "name": "X", "url": "http://o.example/" }),
            format!("`X` is left out: {elsewhere}"),
        ),
        (
            json!({ "id": "x", "name": "X", "url": "nowhere" }),
            "`X` is left out: its `url` is no URL".to_owned(),
        ),
        (
            json!({ "id": "x", "name": "X", "url": [] }),
            "`X` is left out: its `url` is not a string".to_owned(),
        ),
    ] {
        let (connectors, left_out) = listed(&[json!({ "data": [entry, { "id": "good", "name": "Good" }] })]);
        assert_eq!(connectors, ["good Good https://o.example/api/v1/mcp/good"]);
        assert_eq!(left_out, [format!("connector {why}")]);
    }
    let twice = json!({ "data": [{ "id": "x", "name": "X" }, { "id": "x", "name": "Y" }] });
    assert_eq!(listed(&[twice]).1, ["connector `Y` is left out: its id stands twice"]);
}

// C1
#[test]
fn pages_follow_each_other_until_one_makes_no_sense() {
    let base: Url = "https://o.example".parse().unwrap();
    let next = |pages: &[Value]| {
        let mut listing = Listing::new(&base);
        let mut last = Ok(None);
        for page in pages {
            last = listing.take(page.to_string().as_bytes());
        }
        last.map_err(|error| error.to_string())
    };
    let more = json!({ "data": [], "has_more": true, "next_page": "p" });
    let wrong = |why: &str| Err(format!("the answer of the catalogue cannot be understood: {why}"));
    assert_eq!(next(&[json!({ "data": [] })]), Ok(None));
    assert_eq!(next(&[json!({ "data": [], "has_more": false, "next_page": "p" })]), Ok(None));
    assert_eq!(next(std::slice::from_ref(&more)), Ok(Some("p".to_owned())));
    assert_eq!(next(&[more.clone(), more]), wrong("it names the same page again"));
    let nowhere = json!({ "data": [], "has_more": true });
    assert_eq!(next(&[nowhere]), wrong("it has more, and does not say where"));
    assert_eq!(next(&[json!([])]), wrong("there is no list `data` in it"));
    let many: Vec<Value> = (0..1001).map(|id| json!({ "id": id.to_string(), "name": "n" })).collect();
    let (connectors, left_out) = listed(&[json!({ "data": many })]);
    assert_eq!((connectors.len(), left_out.len()), (1000, 1));
}
