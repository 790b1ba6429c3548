//! Takes a person through a sign-in that is under way: shows the page, takes what is pasted, waits (A8).
//!
//! What a person reads is talk. Programs get one line of data with the page at once, and the result at the end.

use std::time::Duration;

use mcparley::model::text::display;
use mcparley::{Flow, SignInError};
use mcparley_auth::browser::{Browser, Opened};
use serde_json::json;
use tokio::sync::mpsc;

use super::{Pending, typed};
use crate::args::WaitArgs;
use crate::context;
use crate::error::CommandError;
use crate::out::Out;

/// What is signed in to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who<'w> {
    /// A server.
    Server(&'w str),
    /// The identity provider.
    Provider(&'w str),
}

/// How a person is taken through.
pub(crate) struct Guide {
    /// None when none is wanted.
    browser: Option<Browser>,
    /// What is pasted, once somebody has begun to listen for it.
    typed: Option<mpsc::Receiver<String>>,
    /// Whether anything can be pasted.
    takes_paste: bool,
    limit: Option<Duration>,
    /// Whether anybody is waited for at all.
    waits: bool,
}

impl Guide {
    /// `asks` is whether something else on the command line says that somebody is there.
    pub(crate) fn new(args: &WaitArgs, asks: bool, out: &Out) -> Self {
        let is_script = out.json || !context::is_interactive();
        Self {
            browser: (!args.no_browser).then(context::browser),
            typed: None,
            takes_paste: args.no_browser || context::stdin_is_terminal(),
            limit: args.timeout.map(Duration::from_millis),
            waits: !is_script || args.wait || args.no_browser || asks,
        }
    }

    /// Whether anybody is waited for.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// Whether a browser can come back, or its last address be pasted. Where neither is so, another device is better.
    pub(crate) fn has_a_way_back(&self) -> bool {
        self.takes_paste || self.browser.as_ref().is_some_and(Browser::is_there)
    }

    /// Shows the page, if there is one, and waits for the end.
    ///
    /// # Errors
    /// Why nobody is signed in.
    pub(crate) async fn walk(
        &mut self,
        who: Who<'_>,
        flow: &Flow,
        out: &mut Out,
    ) -> Result<(), CommandError> {
        self.show(who, flow, out).await;
        if !self.is_pasted_to(flow) {
            out.waiting(waiting(flow));
        }
        let ended = self.end(flow, out).await;
        out.waited();
        match ended {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(CommandError::sign_in(who, error)),
            None => {
                Err(CommandError::NobodyCame { who: who.to_string(), after: self.limit.unwrap_or_default() })
            }
        }
    }

    async fn show(&self, who: Who<'_>, flow: &Flow, out: &mut Out) {
        let Some(page) = flow.page() else { return };
        if out.json {
            out.json_line(&json!({ "pendingAuth": [Pending::begun(who, flow)] }));
        }
        let opened = match &self.browser {
            Some(browser) => Some(browser.open(page).await),
            None => None,
        };
        if out.json {
            return;
        }
        let how = match &opened {
            Some(Opened::Yes { .. }) => "a browser was opened at",
            Some(Opened::NoBrowser(_)) | None => "open this page in a browser",
        };
        out.say(format!("To sign in to {}, {how}:\n\n  {}\n", display(&who.to_string()), page.as_str()));
        if let Some(Opened::NoBrowser(why)) = &opened {
            out.remark(&format!("{why}"));
        }
        if let Some(origin) = flow.token_origin() {
            out.say(format!(
                "Tokens come from another site, as its authorization server says: {}",
                display(origin)
            ));
        }
        if let Some(code) = flow.user_code() {
            out.say(format!("The page asks for this code: {}", display(code)));
        }
        if self.is_pasted_to(flow) {
            out.say(
                "If the browser ends on a page that cannot be shown, paste the address of that page here:",
            );
        }
    }

    /// A page that asks for a code comes back to nobody.
    fn is_pasted_to(&self, flow: &Flow) -> bool {
        self.takes_paste && flow.page().is_some() && flow.user_code().is_none()
    }

    /// How it ended; nothing when the person took too long.
    async fn end(&mut self, flow: &Flow, out: &mut Out) -> Option<Result<(), std::sync::Arc<SignInError>>> {
        let takes_paste = self.is_pasted_to(flow);
        let mut typed = takes_paste.then(|| self.typed.take().unwrap_or_else(typed::lines));
        let limit = self.limit;
        let mut late = std::pin::pin!(async move {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        });
        let mut done = std::pin::pin!(flow.wait());
        let ended = loop {
            tokio::select! {
                biased;
                done = &mut done => break Some(done),
                () = &mut late => break None,
                line = next(&mut typed) => paste(flow, &line, out).await,
            }
        };
        self.typed = typed;
        ended
    }
}

/// The next line; never, where nothing more is typed.
async fn next(typed: &mut Option<mpsc::Receiver<String>>) -> String {
    if let Some(lines) = typed
        && let Some(line) = lines.recv().await
    {
        return line;
    }
    *typed = None;
    std::future::pending().await
}

/// What was pasted wrongly is told, and the right one still waited for.
async fn paste(flow: &Flow, line: &str, out: &mut Out) {
    if line.is_empty() {
        return;
    }
    if let Err(error) = flow.paste(line).await {
        use mcparley::model::explain::Explain as _;
        out.warn(&error.in_one_line());
        if let Some(hint) = error.hint() {
            out.hint(&hint);
        }
    }
}

fn waiting(flow: &Flow) -> &'static str {
    match (flow.page(), flow.user_code()) {
        (None, _) => "signing in …",
        (Some(_), None) => "waiting for the browser …",
        (Some(_), Some(_)) => "waiting for the other device …",
    }
}

impl std::fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server(name) => write!(f, "server `{name}`"),
            Self::Provider(issuer) => write!(f, "the identity provider `{issuer}`"),
        }
    }
}
