//! Destinations of the token, parsing of the catalog, and token renewal.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcparley_model::config::Spanned;
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_model::secret::Secret;
use mcparley_wire::authorizer::{Authorizer, Challenge, ChallengeKind, Credentials, RetryDecision};
use mcparley_wire::peer::BoxedFuture;
use serde_json::{Value, json};

use super::*;

/// A token source that counts renewals, and renews if it can.
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
    fn current_token(&self) -> Option<Secret<String>> {
        Some(Secret::new(self.current.lock().unwrap().clone()))
    }

    fn renew_token<'a>(&'a self, sent: &'a Secret<String>) -> BoxedFuture<'a, Option<Secret<String>>> {
        Box::pin(async move {
            assert_eq!(sent.expose(), "old");
            self.renewals.fetch_add(1, Ordering::Relaxed);
            // The other callers arrive meanwhile: on one thread each gets its turn.
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
    Credentials::from_bearer_token(Secret::new(token.to_owned()))
}

fn refused(wants: ChallengeKind) -> Challenge {
    Challenge { kind: wants, www_authenticate: None }
}

async fn refuse_at_once(bearer: &Arc<ConnectorBearer>, callers: usize) -> Vec<RetryDecision> {
    let refused = |_| {
        let bearer = Arc::clone(bearer);
        tokio::spawn(
            async move { bearer.handle_refusal(&sent("old"), &refused(ChallengeKind::SignIn)).await },
        )
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
    let bearer = Arc::new(ConnectorBearer::new(Arc::<Counting>::clone(&source)));
    assert!(refuse_at_once(&bearer, 50).await.iter().all(|next| matches!(next, RetryDecision::Retry)));
    // A later caller with the old token finds that it has been renewed.
    assert!(matches!(
        bearer.handle_refusal(&sent("old"), &refused(ChallengeKind::SignIn)).await,
        RetryDecision::Retry
    ));
    assert_eq!(source.renewals.load(Ordering::Relaxed), 1);
}

// T7
#[tokio::test]
async fn failed_renewal_is_shared_by_all_callers() {
    for next in [None, Some("old")] {
        let source = Counting::new(next);
        let bearer = Arc::new(ConnectorBearer::new(Arc::<Counting>::clone(&source)));
        assert!(refuse_at_once(&bearer, 50).await.iter().all(|next| matches!(next, RetryDecision::GiveUp)));
        assert_eq!(source.renewals.load(Ordering::Relaxed), 1);
    }
}

// T7
#[tokio::test]
async fn missing_scopes_do_not_cause_a_renewal() {
    let source = Counting::new(Some("new"));
    let bearer = ConnectorBearer::new(Arc::<Counting>::clone(&source));
    assert!(matches!(
        bearer.handle_refusal(&sent("old"), &refused(ChallengeKind::MoreRights)).await,
        RetryDecision::GiveUp
    ));
    assert_eq!(source.renewals.load(Ordering::Relaxed), 0);
}

// T7
#[test]
fn token_is_only_sent_over_confidential_connections() {
    let at = |url: &str| Organization::from_url(url, Counting::new(None)).is_ok();
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
fn connector_of_another_origin_does_not_get_the_token() {
    let organization = Organization::from_url("https://o.example/api", Counting::new(None)).unwrap();
    let target = |url: &str| organization.connector_target(&url.parse().unwrap()).is_ok();
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
fn managed_settings_win_over_the_variable_and_that_over_user_settings() {
    let origin = || ConfigOrigin::for_source(Source::from_label("settings"));
    let base = |layer: Option<SettingsLayer>, variable: Option<&str>| {
        let value = "https://settings.example".to_owned();
        let connectors = layer.map(|layer| (layer, Spanned { value, origin: origin() }));
        let settings = MergedSettings { connectors, ..MergedSettings::default() };
        let mut env = Env::default();
        if let Some(variable) = variable {
            env.set("MCPARLEY_CONNECTORS_URL", variable);
        }
        let found = Organization::from_settings(&settings, &env, Counting::new(None)).unwrap();
        found.map(|found| found.base.host_str().unwrap().to_owned())
    };
    let variable = Some("https://variable.example");
    assert_eq!(base(None, None), None);
    assert_eq!(base(None, Some("")), None);
    assert_eq!(base(None, variable).as_deref(), Some("variable.example"));
    assert_eq!(base(Some(SettingsLayer::User), None).as_deref(), Some("settings.example"));
    assert_eq!(base(Some(SettingsLayer::User), variable).as_deref(), Some("variable.example"));
    assert_eq!(base(Some(SettingsLayer::Managed), variable).as_deref(), Some("settings.example"));
}

fn listed(pages: &[Value]) -> (Vec<String>, Vec<String>) {
    let base = "https://o.example/api".parse().unwrap();
    let mut listing = ConnectorListing::new(&base);
    for page in pages {
        if let Err(error) = listing.parse_page(page.to_string().as_bytes()) {
            listing.add_problem(&error);
        }
    }
    let ConnectorList { connectors, problems } = listing.into_connectors();
    let line = |connector: mcparley_config::Connector| {
        format!("{} {} {}", connector.id, connector.name, connector.url)
    };
    (
        connectors.into_iter().map(line).collect(),
        problems.into_iter().map(|problem| problem.message).collect(),
    )
}

// C1 N1
#[test]
fn entries_are_parsed_and_duplicate_names_are_numbered() {
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
fn bad_entry_is_reported_and_the_others_are_kept() {
    let elsewhere = "its `url` is not of the catalog's origin, so the token cannot be sent to it";
    let odd = "its `id` is empty, too long, or has invalid characters";
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
            "`X` is left out: its `url` is not a valid URL".to_owned(),
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
    assert_eq!(listed(&[twice]).1, ["connector `Y` is left out: its id is a duplicate"]);
}

// C1
#[test]
fn pages_are_followed_until_one_is_malformed() {
    let base: Url = "https://o.example".parse().unwrap();
    let next = |pages: &[Value]| {
        let mut listing = ConnectorListing::new(&base);
        let mut last = Ok(None);
        for page in pages {
            last = listing.parse_page(page.to_string().as_bytes());
        }
        last.map_err(|error| error.to_string())
    };
    let more = json!({ "data": [], "has_more": true, "next_page": "p" });
    let wrong = |why: &str| Err(format!("the connector catalog is malformed: {why}"));
    assert_eq!(next(&[json!({ "data": [] })]), Ok(None));
    assert_eq!(next(&[json!({ "data": [], "has_more": false, "next_page": "p" })]), Ok(None));
    assert_eq!(next(std::slice::from_ref(&more)), Ok(Some("p".to_owned())));
    assert_eq!(next(&[more.clone(), more]), wrong("it repeats a page"));
    let nowhere = json!({ "data": [], "has_more": true });
    assert_eq!(next(&[nowhere]), wrong("it has more pages, but no `next_page`"));
    assert_eq!(next(&[json!([])]), wrong("it has no `data` list"));
    let many: Vec<Value> = (0..1001).map(|id| json!({ "id": id.to_string(), "name": "n" })).collect();
    let (connectors, left_out) = listed(&[json!({ "data": many })]);
    assert_eq!((connectors.len(), left_out.len()), (1000, 1));
}
