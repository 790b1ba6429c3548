//! Guides the user through a sign-in: shows the page, accepts a pasted redirect URL, waits for the result.
//!
//! Messages for the user go to stderr. Scripts get one JSON line with the page at once, and the result at the
//! end.

use std::time::Duration;

use mcparley::auth::{Flow, SignInError};
use mcparley::model::text::display_line;
use mcparley_auth::BrowserPage;
use mcparley_auth::browser::{Browser, BrowserOutcome};
use mcparley_console::dialog::TerminalDialogs;
use serde_json::json;
use tokio::sync::mpsc;

use super::typed_lines;
use crate::args::WaitArgs;
use crate::context;
use crate::error::CommandError;
use crate::out::TerminalOutput;
use mcparley_report::{PendingSignIn, SignInTarget};

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
        if !self.show_page(who, flow, out).await {
            let declined = std::sync::Arc::new(SignInError::Stopped);
            return Err(CommandError::sign_in_failure(who, declined));
        }
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

    /// Shows the page, and opens it: on a terminal after the user has seen where it leads. Returns whether to
    /// wait for the sign-in.
    async fn show_page(&self, who: SignInTarget<'_>, flow: &Flow, out: &mut TerminalOutput) -> bool {
        let Some(page) = flow.page() else { return true };
        // A thread that already reads lines would take the dialog's keys.
        let can_ask = self.browser.is_some() && self.typed.is_none();
        if let Some(dialogs) = out.dialogs().filter(|_| can_ask) {
            return match self.ask_to_open(&dialogs, who, flow, page).await {
                Some(true) => self.explain_paste(flow, out),
                Some(false) => false,
                None => true,
            };
        }
        if out.json {
            out.print_json_line(&json!({ "pendingAuth": [PendingSignIn::with_page(who, flow)] }));
        }
        let opened = match &self.browser {
            Some(browser) => Some(browser.open_page(page).await),
            None => None,
        };
        if out.json {
            return true;
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
        page_notes(flow).iter().for_each(|note| out.print_message(note));
        self.explain_paste(flow, out)
    }

    /// Asks whether to open the page; `None` if the sign-in or its time ended meanwhile.
    async fn ask_to_open(
        &self,
        dialogs: &TerminalDialogs,
        who: SignInTarget<'_>,
        flow: &Flow,
        page: &BrowserPage,
    ) -> Option<bool> {
        let (target, notes) = (who.to_string(), page_notes(flow));
        tokio::select! {
            is_agreed = dialogs.show_sign_in_page(&target, page, &notes) => Some(is_agreed),
            _ = flow.wait_until_done() => None,
            () = sleep_until_limit(self.limit) => None,
        }
    }

    /// Says that the URL of the last page can be pasted, if it can; always true.
    fn explain_paste(&self, flow: &Flow, out: &mut TerminalOutput) -> bool {
        if self.accepts_paste(flow) {
            out.print_message("If the last page does not load in the browser, paste its URL here:");
        }
        true
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
        let mut late = std::pin::pin!(sleep_until_limit(self.limit));
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

/// The facts about a sign-in that the user should know before opening its page.
fn page_notes(flow: &Flow) -> Vec<String> {
    let origin = flow.token_origin().map(|origin| {
        let origin = display_line(origin);
        format!("The token endpoint of this authorization server is on another site: {origin}")
    });
    let code = flow.user_code().map(|code| format!("Enter this code on the page: {}", display_line(code)));
    origin.into_iter().chain(code).collect()
}

async fn sleep_until_limit(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
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
