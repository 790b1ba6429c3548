//! The views of principals that sign in to servers themselves.
//!
//! A gateway that tells principals apart acts at a server for the principal of the call, with that principal's own
//! sign-in. So each principal has a view of the host: connections that carry a sign-in are the principal's own,
//! and so are their tool lists; all others are shared. One principal uses the gateway as its user does.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley::Host;
use mcparley::auth::{CallbackEndpoint, IssuedToken, PrincipalSignIn, SubjectTokenSource};
use mcparley::pool::principal::ClientIdentity;

use crate::gateway::Gateway;

/// The gateways of principals, by their names.
#[derive(Debug, Default)]
pub(crate) struct PrincipalViews {
    settings: Arc<PrincipalSettings>,
    views: Mutex<HashMap<Box<str>, PrincipalView>>,
}

/// The view of one principal.
#[derive(Debug)]
struct PrincipalView {
    gateway: Gateway,
    /// The newest token of an issuer that its clients sent.
    subject: SubjectTokenSource,
}

/// The settings that all views of a gateway share.
#[derive(Debug, Default)]
struct PrincipalSettings {
    /// Whether there is more than one principal; never reset.
    has_several: OnceLock<Arc<AtomicBool>>,
    /// The redirect address of sign-ins.
    callback: OnceLock<CallbackEndpoint>,
}

impl PrincipalViews {
    /// Views with the same settings, for another gateway.
    pub(crate) fn with_same_settings(&self) -> Self {
        Self { settings: Arc::clone(&self.settings), views: Mutex::default() }
    }

    /// The redirect address of sign-ins, if browsers reach the gateway.
    pub(crate) fn callback(&self) -> Option<&CallbackEndpoint> {
        self.settings.callback.get()
    }

    fn has_several(&self) -> bool {
        self.settings.has_several.get().is_some_and(|several| several.load(Ordering::Relaxed))
    }

    fn lock_views(&self) -> MutexGuard<'_, HashMap<Box<str>, PrincipalView>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// Gives each principal its own sign-ins as soon as `has_several` is true, and sends browsers back to
    /// `callback`. The first call counts.
    pub fn separate_principals(&self, has_several: Arc<AtomicBool>, callback: Option<CallbackEndpoint>) {
        let settings = &self.principals.settings;
        let _first = settings.has_several.set(has_several);
        if let Some(callback) = callback {
            let _first = settings.callback.set(callback);
        }
    }

    /// The gateway for a principal: with its own sign-ins, where the gateway tells principals apart.
    pub(crate) fn for_principal(&self, principal: &str) -> Self {
        let is_told_apart = ["token:", "jwt:"].iter().any(|kind| principal.starts_with(kind));
        if !is_told_apart || !self.principals.has_several() {
            return self.clone();
        }
        let mut views = self.principals.lock_views();
        if let Some(known) = views.get(principal) {
            return known.gateway.clone();
        }
        let subject = SubjectTokenSource::default();
        let sign_in =
            PrincipalSignIn { callback: self.principals.callback().cloned(), subject: subject.clone() };
        let agent = self.host.open_principal_view(principal, sign_in);
        let view = Self {
            host: Host::clone(&agent),
            log_host: Some(self.log_host.clone().unwrap_or_else(|| self.host.clone())),
            has_principal_view: true,
            views: Arc::default(),
            tool_lists: Arc::default(),
            client_views: Arc::default(),
            // A view has no views of other principals.
            principals: Arc::default(),
            ..self.clone()
        };
        views.insert(principal.into(), PrincipalView { gateway: view.clone(), subject });
        view
    }

    /// Stores the token of an issuer that a principal has sent with a request, to be exchanged for those of servers.
    pub fn store_subject_token(&self, principal: &str, token: &IssuedToken) {
        if let Some(view) = self.principals.lock_views().get(principal) {
            view.subject.set_token(token.clone());
        }
        self.client_views.for_each(|view| view.store_subject_token(principal, token));
    }

    /// Stores the token of an issuer that a client has sent with a request.
    pub fn store_token_of(&self, identity: &ClientIdentity) {
        if let Some(subject) = &identity.subject_token {
            let (token, issuer) = (subject.token.clone(), Arc::clone(&subject.issuer));
            let token = IssuedToken { token, issuer, expires: subject.expires };
            self.store_subject_token(&identity.account, &token);
        }
    }

    /// Closes the views of principals without a session. Called from time to time.
    pub fn close_idle_principals(&self) {
        let mut idle = Vec::new();
        self.principals.lock_views().retain(|_, view| {
            let is_idle = view.gateway.is_unused();
            if is_idle {
                idle.push(view.gateway.host.clone());
            }
            !is_idle
        });
        self.client_views.for_each(Self::close_idle_principals);
        for host in idle {
            // A token that is being renewed is stored before the view ends.
            tokio::spawn(async move { host.shut_down().await });
        }
    }

    /// Whether no session uses this gateway, which the list of views holds once.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.views) == 1
    }
}
