//! Sign-in support of a server: whether a server that demands credentials describes how to sign in.
//!
//! A server without a description implements 2025-03-26, or accepts only a token that its operator hands out.
//! Only an attempt to register shows which, so nothing is decided here, and users are told both.

use std::time::Duration;

use super::Account;
use crate::discover::{self, DiscoveryResult};
use crate::metadata::MetadataSource;

/// The time limit for a server's metadata, after which a hint is given without it.
const METADATA_TIME: Duration = Duration::from_secs(2);

impl Account {
    /// Whether the server or its entry describes how to sign in; metadata is fetched only if the server's
    /// challenge names none.
    ///
    /// Metadata that cannot be fetched counts as a description: the sign-in that follows reports the reason.
    pub async fn describes_sign_in(&self) -> bool {
        let (asked, oauth) = (self.last_challenge(), &self.0.oauth);
        let is_named = asked.as_ref().is_some_and(|asked| asked.resource_metadata.is_some());
        if is_named || oauth.auth_server_metadata_url.is_some() || oauth.client_id.is_some() {
            return true;
        }
        let found = discover::discover_auth_server(&self.0.web, &self.0.url, asked.as_ref(), None);
        match tokio::time::timeout(METADATA_TIME, found).await {
            Ok(Ok(DiscoveryResult { server, .. })) => server.source == MetadataSource::Published,
            Ok(Err(_)) | Err(_) => true,
        }
    }
}
