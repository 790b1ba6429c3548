//! Finds out whether a server that wants to know who we are says anywhere how to sign in.
//!
//! One that does not is of 2025-03-26, or takes nothing but a token that its operator gives out. Which of the two is known
//! only after an attempt to register, so nothing is decided here; people are told of both.

use std::time::Duration;

use super::Account;
use crate::discover::{self, Discovered};
use crate::metadata::Found;

/// How long a server is asked for its metadata before a hint is given without them.
const METADATA_TIME: Duration = Duration::from_secs(2);

impl Account {
    /// Whether the server, or its entry, says how to sign in to it; asks only a server whose refusal names no metadata.
    ///
    /// What cannot be found out counts as said: the sign-in that follows tells more.
    pub async fn describes_sign_in(&self) -> bool {
        let (asked, oauth) = (self.asked(), &self.0.oauth);
        let is_named = asked.as_ref().is_some_and(|asked| asked.resource_metadata.is_some());
        if is_named || oauth.auth_server_metadata_url.is_some() || oauth.client_id.is_some() {
            return true;
        }
        let found = discover::find(&self.0.web, &self.0.url, asked.as_ref(), None);
        match tokio::time::timeout(METADATA_TIME, found).await {
            Ok(Ok(Discovered { server, .. })) => server.found == Found::Described,
            Ok(Err(_)) | Err(_) => true,
        }
    }
}
