//! The time that the check of a token takes.

use std::time::{Duration, Instant};

use mcparley_testkit::{TokenIssuer, TokenKey};

use crate::tokens::{RESOURCE, policy};

/// The limit for a token that was verified before.
const AGAIN: Duration = Duration::from_micros(20);
/// The limit for the first check of a token with known keys. Without optimization the code around the signature
/// takes longer.
const FIRST: Duration = Duration::from_millis(2);

// G4
#[tokio::test]
async fn heavy_repeated_check_of_a_token_takes_at_most_twenty_microseconds() {
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let key = TokenKey::generate("k", algorithm);
        let issuer = TokenIssuer::start(&[&key]);
        let policy = policy(&issuer);
        policy.fetch_keys().await.unwrap();
        let mut claims = issuer.claims(RESOURCE);
        let tokens: Vec<String> = (0..200)
            .map(|number| {
                claims["jti"] = serde_json::json!(number);
                key.sign(&serde_json::json!({ "alg": algorithm, "kid": "k" }), &claims)
            })
            .collect();
        let mut first = Vec::new();
        for token in &tokens {
            let begun = Instant::now();
            policy.verify_token(token, None).await.unwrap();
            first.push(begun.elapsed());
        }
        let mut again = Vec::new();
        for token in tokens.iter().cycle().take(10_000) {
            let begun = Instant::now();
            policy.verify_token(token, None).await.unwrap();
            again.push(begun.elapsed());
        }
        let (first, again) = (median(first), median(again));
        assert!(first <= FIRST && again <= AGAIN, "{algorithm}: first check {first:?}, again {again:?}");
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
