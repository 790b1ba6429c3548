//! Access tokens of a real OpenID provider.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcparley_identity::{AccessPolicy, AccessRefusal, IssuerSettings};
use mcparley_testkit::{Browser, OpenIdProvider, percent_encode};
use mcparley_wire::transport::http::Network;

/// Requests an access token for the provider's resource with the client's own secret.
fn request_token(provider: &OpenIdProvider, scope: &str) -> String {
    let mut browser = Browser::new();
    let metadata = browser.open(&format!("{}/.well-known/openid-configuration", provider.issuer())).json();
    let client = &provider.clients()["secret"];
    let text = |name: &str| percent_encode(client[name].as_str().unwrap_or_default());
    let login = STANDARD.encode(format!("{}:{}", text("client_id"), text("client_secret")));
    let form = format!(
        "grant_type=client_credentials&scope={}&resource={}",
        percent_encode(scope),
        percent_encode(provider.url())
    );
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("authorization", &*format!("Basic {login}")),
    ];
    let page = browser.send("POST", metadata["token_endpoint"].as_str().unwrap(), &headers, &form);
    page.json()["access_token"].as_str().unwrap_or_else(|| panic!("{}", page.text())).to_owned()
}

// G4 B88
#[tokio::test]
async fn fleet_token_of_a_real_issuer_is_accepted_for_its_resource_and_scope() {
    let provider = OpenIdProvider::start(&[]);
    let policy = |resource: &str, scope: &str| {
        let settings = IssuerSettings {
            issuer: provider.issuer().to_owned(),
            resource: resource.to_owned(),
            scopes: vec![scope.to_owned()],
        };
        AccessPolicy::new(&settings, &Network::default()).unwrap()
    };
    let token = request_token(&provider, "mcp:use");
    let identity = policy(provider.url(), "mcp:use").verify_token(&token, None).await.unwrap();
    assert!(identity.has_scope("mcp:use") && identity.account.starts_with("jwt:"), "{identity:?}");
    let refusal = async |resource: &str, scope: &str| {
        policy(resource, scope).verify_token(&token, None).await.unwrap_err()
    };
    assert_eq!(refusal(provider.url(), "mcp:admin").await, AccessRefusal::Scope);
    assert_eq!(refusal("https://other.example/mcp", "mcp:use").await, AccessRefusal::Audience);
}
