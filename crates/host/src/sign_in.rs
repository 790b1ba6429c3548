//! Signing in to servers, for whoever embeds the host: begin, show the page, wait (A5, A8).
//!
//! The sign-in itself is the business of `mcparley-auth`. Here it is tied to the servers of a host: one that wants a
//! sign-in is reached again as soon as somebody has signed in, here or in another process.

mod tool;

use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_wire::peer::Boxed;

use crate::host::Host;

pub use mcparley_auth::{
    Account, Accounts, Cause, Flow, IdentitySettings, Page, Revoked, SignInError, SignInStanding, SignedOut,
    Way,
};

/// Whoever can put a page before a person: a browser, or a line in a terminal that says where to go.
pub trait PageOpener: Send + Sync + 'static {
    /// Shows the page for the sign-in to `server`; says whether it was shown. Returns at once, without waiting for what
    /// the person does there.
    fn open<'p>(&'p self, server: &'p ServerName, page: &'p Page) -> Boxed<'p, bool>;
}

/// The safe default: nobody is there, so nothing is opened. Whoever asked is told the address.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyToShow;

impl PageOpener for NobodyToShow {
    fn open<'p>(&'p self, _server: &'p ServerName, _page: &'p Page) -> Boxed<'p, bool> {
        Box::pin(std::future::ready(false))
    }
}

impl Host {
    /// Begins to sign in to a server, or joins the sign-in that is under way. Show the page, then wait; the server is
    /// reached again by itself when somebody has signed in.
    ///
    /// # Errors
    /// A [`SignInError`]; [`SignInError::NotHere`] for a server that nobody can sign in to.
    pub async fn sign_in(&self, server: &ServerName, way: Way) -> Result<Flow, SignInError> {
        let account = self.account(server).ok_or(SignInError::NotHere)?;
        account.begin(way).await
    }

    /// Begins to sign in and shows the page by the [`PageOpener`], once for all who want the same; waits until it is over.
    ///
    /// # Errors
    /// As [`Host::sign_in`], and when it did not succeed; [`SignInError::Unseen`] when the page could not be shown.
    pub async fn sign_in_with_page(&self, server: &ServerName) -> Result<(), Arc<SignInError>> {
        let flow = self.sign_in(server, Way::Browser).await?;
        if let Some(page) = flow.unseen_page()
            && !self.page_opener().open(server, page).await
        {
            return Err(Arc::new(SignInError::Unseen));
        }
        flow.wait().await
    }

    /// Signs out of a server: gives tokens back, forgets them, and ends what was open with them.
    ///
    /// # Errors
    /// As [`Host::sign_in`].
    pub async fn sign_out(&self, server: &ServerName) -> Result<SignedOut, SignInError> {
        let account = self.account(server).ok_or(SignInError::NotHere)?;
        let out = account.sign_out().await?;
        self.reconnect(server).await;
        Ok(out)
    }

    /// The sign-in to a server, where there can be one: not where the entry itself says who we are.
    #[must_use]
    pub fn account(&self, server: &ServerName) -> Option<mcparley_auth::Account> {
        self.connection(server).and_then(|connection| connection.account().cloned())
    }
}
