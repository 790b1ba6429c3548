//! Guides the user through a sign-in: shows the page, accepts a pasted redirect URL, waits for the result.
//!
//! Messages for the user go to stderr. Scripts get one JSON line with the page at once, and the result at the
//! end.

use std::time::Duration;

use mcparley::auth::{Flow, SignInError};
use mcparley::model::text::display_line;
use mcparley_auth::browser::{Browser, BrowserOutcome};
use serde_json::json;
use tokio::sync::mpsc;

use super::typed_lines;
use crate::args::WaitArgs;
use crate::context;
use crate::error::CommandError;
use crate::out::TerminalOutput;
use crate::report::{PendingSignIn, SignInTarget};

/// The dialog of a sign-in: browser, pasted input and timeout.
pub(crate) struct SignInGuide {
    /// The browser; `None` with `--no-browser`.
    browser: Option<Browser>,
    /// The lines of standard input, once the reader thread has started.
    typed: Option<mpsc::Receiver<String>>,
    /// Whether the user can paste a URL.
    takes_paste: bool,
    limit: Option<Duration>,
    /// Whether the command waits for the user at all.
    waits_for_user: bool,
}

impl SignInGuide {
    /// Creates the dialog. `asks` is whether another option, such as `--device`, implies that a user is
    /// present.
    pub(crate) fn new(args: &WaitArgs, asks: bool, out: &TerminalOutput) -> Self {
        let is_script = out.json || !context::is_interactive();
        Self {
            browser: (!args.no_browser).then(context::user_browser),
            typed: None,
            takes_paste: args.no_browser || context::stdin_is_terminal(),
            limit: args.timeout.map(Duration::from_millis),
            waits_for_user: !is_script || args.wait || args.no_browser || asks,
        }
    }

    /// Whether the command waits for the user.
    pub(crate) fn waits_for_user(&self) -> bool {
        self.waits_for_user
    }

    /// Whether the OAuth redirect can reach this process, from a browser here or as a pasted URL. If not, the
    /// device flow is the better choice.
    pub(crate) fn can_receive_redirect(&self) -> bool {
        self.takes_paste || self.browser.as_ref().is_some_and(Browser::is_available)
    }

    /// Shows the page, if there is one, and waits until the sign-in ends.
    ///
    /// # Errors
    /// The sign-in failed, or the user did not complete it before the timeout.
    pub(crate) async fn run_flow(
        &mut self,
        who: SignInTarget<'_>,
        flow: &Flow,
        out: &mut TerminalOutput,
    ) -> Result<(), CommandError> {
        self.show_page(who, flow, out).await;
        if !self.accepts_paste(flow) {
            out.show_waiting(waiting_text(flow));
        }
        let ended = self.wait_for_result(flow, out).await;
        out.stop_waiting();
        match ended {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(CommandError::sign_in_failure(who, error)),
            None => Err(CommandError::SignInTimedOut {
                who: who.to_string(),
                after: self.limit.unwrap_or_default(),
            }),
        }
    }

    async fn show_page(&self, who: SignInTarget<'_>, flow: &Flow, out: &mut TerminalOutput) {
        let Some(page) = flow.page() else { return };
        if out.json {
            out.print_json_line(&json!({ "pendingAuth": [PendingSignIn::with_page(who, flow)] }));
        }
        let opened = match &self.browser {
            Some(browser) => Some(browser.open_page(page).await),
            None => None,
        };
        if out.json {
            return;
        }
        let how = match &opened {
            Some(BrowserOutcome::Opened { .. }) => "your browser was opened at",
            Some(BrowserOutcome::NoBrowser(_)) | None => "open this page in a browser",
        };
        out.print_message(format!(
            "To sign in to {}, {how}:\n\n  {}\n",
            display_line(&who.to_string()),
            page.as_str()
        ));
        if let Some(BrowserOutcome::NoBrowser(why)) = &opened {
            out.print_remark(&format!("{why}"));
        }
        if let Some(origin) = flow.token_origin() {
            out.print_message(format!(
                "The token endpoint of this authorization server is on another site: {}",
                display_line(origin)
            ));
        }
        if let Some(code) = flow.user_code() {
            out.print_message(format!("Enter this code on the page: {}", display_line(code)));
        }
        if self.accepts_paste(flow) {
            out.print_message("If the last page does not load in the browser, paste its URL here:");
        }
    }

    /// Whether a pasted URL can complete the sign-in. The device flow, which has a code, ends without a
    /// redirect.
    fn accepts_paste(&self, flow: &Flow) -> bool {
        self.takes_paste && flow.page().is_some() && flow.user_code().is_none()
    }

    /// Waits for the result of the sign-in; `None` after the timeout.
    async fn wait_for_result(
        &mut self,
        flow: &Flow,
        out: &mut TerminalOutput,
    ) -> Option<Result<(), std::sync::Arc<SignInError>>> {
        let takes_paste = self.accepts_paste(flow);
        let mut typed = takes_paste.then(|| self.typed.take().unwrap_or_else(typed_lines::read_lines));
        let limit = self.limit;
        let mut late = std::pin::pin!(async move {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        });
        let mut done = std::pin::pin!(flow.wait_until_done());
        let ended = loop {
            tokio::select! {
                biased;
                done = &mut done => break Some(done),
                () = &mut late => break None,
                line = next_line(&mut typed) => paste_url(flow, &line, out).await,
            }
        };
        self.typed = typed;
        ended
    }
}

/// The next line; pends forever once standard input is closed.
async fn next_line(typed: &mut Option<mpsc::Receiver<String>>) -> String {
    if let Some(lines) = typed
        && let Some(line) = lines.recv().await
    {
        return line;
    }
    *typed = None;
    std::future::pending().await
}

/// Completes the sign-in with a pasted URL. A wrong URL gives a warning, and the sign-in keeps waiting.
async fn paste_url(flow: &Flow, line: &str, out: &mut TerminalOutput) {
    if line.is_empty() {
        return;
    }
    if let Err(error) = flow.paste_address(line).await {
        use mcparley::model::explain::Explain as _;
        out.warn(&error.to_single_line());
        if let Some(hint) = error.hint() {
            out.hint(&hint);
        }
    }
}

fn waiting_text(flow: &Flow) -> &'static str {
    match (flow.page(), flow.user_code()) {
        (None, _) => "signing in …",
        (Some(_), None) => "waiting for the browser …",
        (Some(_), Some(_)) => "waiting for the other device …",
    }
}
