//! The time to check a client's token: for the first time, and again.
#![expect(clippy::expect_used, reason = "a bench cannot measure anything without its input")]

use divan::{Bencher, black_box};
use mcparley_identity::{AccessPolicy, IssuerSettings};
use mcparley_testkit::{TokenIssuer, TokenKey};
use mcparley_wire::transport::http::Network;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

const RESOURCE: &str = "https://gateway.example/mcp";
const ALGORITHMS: [&str; 3] = ["RS256", "ES256", "EdDSA"];

fn main() {
    divan::main();
}

/// A policy with the keys of its issuer.
struct Verification {
    runtime: Runtime,
    policy: AccessPolicy,
    issuer: TokenIssuer,
    key: TokenKey,
}

impl Verification {
    fn prepare(algorithm: &str) -> Self {
        let key = TokenKey::generate("k", algorithm);
        let issuer = TokenIssuer::start(&[&key]);
        let settings = IssuerSettings {
            issuer: issuer.url(),
            resource: RESOURCE.to_owned(),
            scopes: vec!["use".to_owned()],
        };
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let policy = AccessPolicy::new(&settings, &Network::default()).expect("a policy");
        runtime.block_on(policy.fetch_keys()).expect("keys");
        Self { runtime, policy, issuer, key }
    }

    /// A token that no other has the text of.
    fn sign_token(&self, algorithm: &str, number: u64) -> String {
        let mut claims = self.issuer.claims(RESOURCE);
        claims["jti"] = json!(number);
        self.key.sign(&json!({ "alg": algorithm, "kid": "k" }), &claims)
    }
}

#[divan::bench(args = ALGORITHMS)]
fn verify_a_new_token(bencher: Bencher, algorithm: &str) {
    let at = Verification::prepare(algorithm);
    let mut number = 0;
    bencher
        .with_inputs(|| {
            number += 1;
            at.sign_token(algorithm, number)
        })
        .bench_local_values(|token| {
            black_box(at.runtime.block_on(at.policy.verify_token(&token, None)).expect("a good token"))
        });
}

#[divan::bench(args = ALGORITHMS)]
fn verify_a_token_again(bencher: Bencher, algorithm: &str) {
    let at = Verification::prepare(algorithm);
    let token = at.sign_token(algorithm, 0);
    at.runtime.block_on(at.policy.verify_token(&token, None)).expect("a good token");
    bencher.bench_local(|| black_box(at.policy.find_verified(&token, None).expect("a known token")));
}
