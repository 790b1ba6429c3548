//! Fetches the keys of an issuer: its metadata (RFC 8414, then OpenID Connect Discovery), and the key set that
//! it names.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use mcparley_auth::discover::fetch_issuer_metadata;
use mcparley_auth::web::Web;
use mcparley_model::limits::{KEYS_TIME_LEAST, KEYS_TIME_MOST};

use crate::issuer_error::IssuerError;
use crate::key_set::KeySet;

/// The place from which the keys of an issuer come.
#[derive(Debug)]
pub(crate) struct KeySource {
    pub(crate) web: Web,
    pub(crate) issuer: String,
}

/// Keys that were fetched.
#[derive(Debug)]
pub(crate) struct FetchedKeys {
    pub(crate) keys: KeySet,
    /// The hash of the document, by which a change is recognized.
    pub(crate) digest: Box<[u8]>,
    /// The time for which the keys are fresh.
    pub(crate) lifetime: Duration,
}

impl KeySource {
    /// Fetches the keys. The metadata is fetched each time, because the place of the keys may change.
    pub(crate) async fn fetch_keys(&self) -> Result<FetchedKeys, IssuerError> {
        let metadata = fetch_issuer_metadata(&self.web, &self.issuer).await?;
        let place = metadata.key_set.ok_or(IssuerError::NoKeySet)?;
        let response = self.web.fetch_document(&place).await?;
        if response.status != 200 {
            return Err(IssuerError::Status(response.status));
        }
        let keys = KeySet::parse(&response.body).ok_or(IssuerError::NoKey)?;
        let digest = digest(&SHA256, &response.body).as_ref().into();
        Ok(FetchedKeys { keys, digest, lifetime: key_lifetime(response.header("cache-control")) })
    }
}

/// The time for which keys are fresh, by their `Cache-Control` within our limits.
fn key_lifetime(cache_control: Option<&str>) -> Duration {
    let directives = cache_control.unwrap_or_default().split(',').map(str::trim);
    let seconds = directives
        .filter_map(|directive| directive.split_once('='))
        .find(|(name, _)| name.eq_ignore_ascii_case("max-age"))
        .and_then(|(_, seconds)| seconds.trim_matches('"').parse().ok());
    Duration::from_secs(seconds.unwrap_or(0)).clamp(KEYS_TIME_LEAST, KEYS_TIME_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    // G4
    #[test]
    fn keys_are_fresh_for_five_minutes_to_a_day() {
        for (header, expected) in [
            (None, 300),
            (Some("no-store"), 300),
            (Some("max-age=0"), 300),
            (Some("public, Max-Age=3600, must-revalidate"), 3600),
            (Some("max-age=\"7200\""), 7200),
            (Some("s-maxage=7200"), 300),
            (Some("max-age=31536000"), 86_400),
            (Some("max-age=-1"), 300),
            (Some("max-age=99999999999999999999"), 300),
        ] {
            assert_eq!(key_lifetime(header), Duration::from_secs(expected), "{header:?}");
        }
    }
}
