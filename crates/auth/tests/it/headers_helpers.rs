//! Headers of a command, sent to a real server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcparley_auth::headers_helper::{HeadersHelper, HelperSettings};
use mcparley_model::secret::Secret;
use mcparley_wire::transport::http::{HttpTarget, Network, fetch_document};
use serde_json::json;
use url::Url;

use crate::counter::{Answer, Counter, Request};

fn target(url: &Url, folder: &Path, command: &str) -> HttpTarget {
    let helper = HeadersHelper::new(HelperSettings {
        command: Secret::new(command.to_owned()),
        name: "it".to_owned(),
        url: Secret::new(url.clone()),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: folder.to_owned(),
        limit: Duration::from_secs(30),
    });
    let fixed = vec![("Authorization".to_owned(), Secret::new("Bearer fixed".to_owned()))];
    HttpTarget { authorizer: Arc::new(helper), ..HttpTarget::new(url.clone(), fixed) }
}

fn sent(requests: &[Request]) -> Vec<Vec<&str>> {
    requests
        .iter()
        .map(|request| {
            let headers =
                request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization"));
            headers.map(|(_, value)| value.as_str()).collect()
        })
        .collect()
}

// A7 K4
#[tokio::test]
async fn helper_headers_replace_fixed_ones_and_are_renewed_after_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let server = Counter::open(vec![
        Answer::json(401, &json!({})),
        Answer::json(200, &json!({})).with("content-type", "application/json"),
    ]);
    let command = r#"echo run >> runs; printf '{"authorization": "Bearer %d"}' "$(wc -l < runs)""#;
    let target = target(&server.server().token_endpoint, folder.path(), command);
    let network = Network::default();
    fetch_document(&target, &network, 1000).await.unwrap();
    assert_eq!(sent(&server.requests()), [["Bearer 1"], ["Bearer 2"]]);
}

// A7
#[tokio::test]
async fn failed_helper_leaves_the_fixed_headers() {
    let folder = tempfile::tempdir().unwrap();
    let server = Counter::open(vec![Answer::json(200, &json!({})).with("content-type", "application/json")]);
    let target = target(&server.server().token_endpoint, folder.path(), "exit 1");
    let network = Network::default();
    fetch_document(&target, &network, 1000).await.unwrap();
    assert_eq!(sent(&server.requests()), [["Bearer fixed"]]);
}
