//! Sign-in to servers for embedding programs: start the flow, show the page, wait.
//!
//! The flow itself is in `mcparley-auth`. This module ties it to the servers of a host: a server that
//! requires a sign-in is connected again as soon as the user has signed in, here or in another process.

mod tool;

use std::sync::Arc;

use mcparley_model::name::ServerName;

use crate::host::Host;

use mcparley_pool::auth::{Flow, SignInError, SignInMethod, SignOutOutcome};

impl Host {
    /// Starts a sign-in to a server, or joins the one in progress. Show the page, then wait; the server is
    /// connected again automatically after the sign-in.
    ///
    /// # Errors
    /// A [`SignInError`]; [`SignInError::Unsupported`] for a server without sign-in.
    pub async fn sign_in(&self, server: &ServerName, way: SignInMethod) -> Result<Flow, SignInError> {
        let account = self.account(server).ok_or(SignInError::Unsupported)?;
        account.begin_sign_in(way).await
    }

    /// Starts a sign-in, shows its page by the [`PageOpener`](crate::page_opener::PageOpener), once for all
    /// concurrent callers (single flight), and waits for its end.
    ///
    /// # Errors
    /// As [`Host::sign_in`], and when it did not succeed; [`SignInError::PageNotShown`] when the page could
    /// not be shown.
    pub async fn sign_in_with_page(&self, server: &ServerName) -> Result<(), Arc<SignInError>> {
        let flow = self.sign_in(server, SignInMethod::Browser).await?;
        if let Some(page) = flow.take_unseen_page()
            && !self.page_opener().open_page(server, page).await
        {
            return Err(Arc::new(SignInError::PageNotShown));
        }
        flow.wait_until_done().await
    }

    /// Signs out of a server: revokes and deletes its tokens, and closes connections that used them.
    ///
    /// # Errors
    /// As [`Host::sign_in`].
    pub async fn sign_out(&self, server: &ServerName) -> Result<SignOutOutcome, SignInError> {
        let account = self.account(server).ok_or(SignInError::Unsupported)?;
        let out = account.sign_out().await?;
        self.reconnect_server(server).await;
        Ok(out)
    }

    /// The account at a server; `None` where the credentials are in the server's entry.
    #[must_use]
    pub fn account(&self, server: &ServerName) -> Option<mcparley_pool::auth::Account> {
        self.connection(server).and_then(|connection| connection.account().cloned())
    }
}
