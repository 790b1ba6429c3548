//! Dialogs: questions to the user at a terminal, in line form.
//!
//! [`TerminalDialogs`] answers the questions of a [`mcparley::Host`]: permissions, forms and pages of servers,
//! and pages of sign-ins. A dialog prints its facts once, so that they stay in the scrollback, and redraws
//! only its controls below them; there is no alternate screen.
//!
//! | part | module |
//! |---|---|
//! | the terminal, shared with the prompt and the progress line | `shared_terminal` |
//! | one open dialog: raw mode, keys, drawing | `session`, `question_loop`, `key_reader` |
//! | lines with tones, and a line to edit | `styled_line`, `line_edit` |
//! | permission of a tool call | `permission` |
//! | a form of a server | `form` |
//! | a page to visit | `page` |
//! | a request of a server to the model | `sampling` |
//! | approval of a folder | [`approval`] |

pub mod approval;
mod form;
mod key_reader;
mod line_edit;
mod page;
mod permission;
mod question_loop;
mod sampling;
mod session;
mod shared_terminal;
mod styled_line;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcparley::auth::BrowserPage;
use mcparley::auth::browser::{Browser, BrowserOutcome};
use mcparley::call::PageOpener;
use mcparley::elicit::{
    Elicitation, ElicitationForm, ElicitationPage, ElicitationReply, ElicitationRequest, Elicitor,
};
use mcparley::model::approval::ApprovalItem;
use mcparley::model::name::ServerName;
use mcparley::model::text::display_line;
use mcparley::permission::PermissionSummary;
use mcparley::sample::SamplingRequest;
use mcparley::{Approver, BoxedFuture, PermissionAnswer, PermissionQuestion};
use mcparley_conversation::SamplingApprover;

use approval::{ApprovalAction, ApprovalDialog, ApprovalEntry};
use form::{FormDialog, form_facts, form_outcome};
use page::{PageAction, PageDialog, VisitDialog, host_line, page_warnings, url_line};
use permission::{PermissionDialog, permission_facts};
use sampling::{SamplingDialog, sampling_facts};
use session::{DialogEnd, DialogSession};
use styled_line::{StyledLine, Tone, block_lines};

pub use shared_terminal::{SharedTerminal, TerminalTurn};

/// The time in which a canceled call must have dropped its question; then the question counts as declined.
const CANCEL_TIME: Duration = Duration::from_secs(2);

/// The outcome of a page that was opened.
const OPENED: &str = "Opened in your browser";

/// Asks the user at the terminal: pass clones to [`mcparley::HostBuilder::approver`],
/// [`mcparley::HostBuilder::elicitor`] and [`mcparley::HostBuilder::page_opener`].
///
/// One question is asked at a time, the others wait. Dropping the future of a question withdraws it and
/// restores the terminal. Ctrl-C in a dialog sends this process the signal that Ctrl-C sends outside of
/// dialogs.
#[derive(Clone)]
pub struct TerminalDialogs {
    terminal: SharedTerminal,
    browser: Arc<Browser>,
    colors: bool,
}

impl TerminalDialogs {
    /// Creates the dialogs of a terminal. Pages are opened in `browser`, and only when the user says so.
    #[must_use]
    pub fn new(terminal: SharedTerminal, browser: Browser, colors: bool) -> Self {
        Self { terminal, browser: Arc::new(browser), colors }
    }

    /// The terminal that the dialogs are shown on.
    #[must_use]
    pub fn terminal(&self) -> &SharedTerminal {
        &self.terminal
    }

    /// Asks which items may be approved, beginning with all of them checked or with none; empty if the user
    /// approves nothing.
    pub async fn choose_approvals(
        &self,
        title: &str,
        entries: &[ApprovalEntry],
        is_checked: bool,
    ) -> Vec<ApprovalItem> {
        let Ok(mut session) = self.open_session(title).await else { return Vec::new() };
        let mut dialog = ApprovalDialog::new(entries, is_checked);
        loop {
            match session.ask(&mut dialog).await {
                Ok(ApprovalAction::Approve) => {
                    let items = dialog.chosen_items();
                    session.close(&format!("{} of {} approved", items.len(), entries.len()));
                    return items;
                }
                Ok(ApprovalAction::View(index)) => {
                    session.print_facts(&entries.get(index).map(entry_facts).unwrap_or_default());
                }
                Ok(ApprovalAction::Nothing) => {
                    session.close("Nothing was approved");
                    return Vec::new();
                }
                Err(end) => {
                    self.finish_canceled(session, end).await;
                    return Vec::new();
                }
            }
        }
    }

    /// Shows the page of a sign-in with notes about it, and opens it if the user says so; returns whether to
    /// go on.
    pub async fn show_sign_in_page(&self, target: &str, page: &BrowserPage, notes: &[String]) -> bool {
        let title = format!("Sign in to {}", display_line(target));
        let Ok(mut session) = self.open_session(&title).await else { return false };
        let url = page.as_str().to_owned();
        let host = page.url().host_str().unwrap_or_default();
        session.print_whole(&url_line(&url, host));
        let notes = notes.iter().map(|note| StyledLine::plain(display_line(note)));
        session.print_facts(&[host_line(host)].into_iter().chain(notes).collect::<Vec<_>>());
        self.ask_about_page(session, &url).await == PageAction::Done
    }

    async fn open_session(&self, title: &str) -> std::io::Result<DialogSession> {
        DialogSession::open(&self.terminal, self.colors, title).await
    }

    /// Asks for the permission of a call of which only the facts are known here, because another process
    /// makes it.
    pub async fn ask_about_call(&self, question: &PermissionSummary) -> PermissionAnswer {
        let no_terminal = || PermissionAnswer::Deny("the user cannot be asked: no terminal".to_owned());
        let Ok(mut session) = self.open_session("Permission").await else { return no_terminal() };
        session.print_facts(&permission_facts(question));
        let mut dialog = PermissionDialog::new(question);
        match session.ask(&mut dialog).await {
            Ok(answer) => {
                session.close(&PermissionDialog::describe_answer(&answer));
                answer
            }
            Err(end) => {
                self.finish_canceled(session, end).await;
                PermissionAnswer::Deny("the user canceled the call".to_owned())
            }
        }
    }

    async fn ask_about_sampling(&self, request: &SamplingRequest) -> bool {
        let title = format!("{} asks the model", display_line(request.server.as_str()));
        let Ok(mut session) = self.open_session(&title).await else { return false };
        session.print_facts(&sampling_facts(request));
        match session.ask(&mut SamplingDialog).await {
            Ok(is_approved) => {
                session.close(if is_approved { "Sent to the model" } else { "Declined" });
                is_approved
            }
            Err(end) => {
                self.finish_canceled(session, end).await;
                false
            }
        }
    }

    async fn fill_form(&self, question: Elicitation<'_>, form: &ElicitationForm) -> ElicitationReply {
        let title = format!("{} asks", display_line(question.server.as_str()));
        let Ok(mut session) = self.open_session(&title).await else { return ElicitationReply::Decline };
        session.print_facts(&form_facts(&question));
        match session.ask(&mut FormDialog::new(form)).await {
            Ok(reply) => {
                session.close(&form_outcome(&question, &reply));
                reply
            }
            Err(end) => {
                self.finish_canceled(session, end).await;
                ElicitationReply::Cancel
            }
        }
    }

    async fn offer_page(&self, question: Elicitation<'_>, page: &ElicitationPage) -> ElicitationReply {
        let title = format!("{} wants you to open a page", display_line(question.server.as_str()));
        let Ok(mut session) = self.open_session(&title).await else { return ElicitationReply::Decline };
        session.print_facts(&block_lines(Tone::Plain, "", question.message));
        session.print_whole(&url_line(page.url(), page.host()));
        session.print_facts(&[host_line(page.host())]);
        session.print_facts(&page_warnings(page));
        match self.ask_about_page(session, page.url()).await {
            PageAction::Done => ElicitationReply::Accept(serde_json::json!({})),
            PageAction::Decline => ElicitationReply::Decline,
            PageAction::Open | PageAction::Copy => ElicitationReply::Cancel,
        }
    }

    /// Asks about a page until the user goes on, declines or cancels: [`PageAction::Done`],
    /// [`PageAction::Decline`], or any other action.
    async fn ask_about_page(&self, mut session: DialogSession, url: &str) -> PageAction {
        let mut dialog = PageDialog::default();
        loop {
            match session.ask(&mut dialog).await {
                Ok(PageAction::Open) => {
                    // The page may have done its work before the browser reports that it was started.
                    session.set_withdrawal(OPENED);
                    match self.open_in_browser(url).await {
                        Ok(()) => {
                            session.close(OPENED);
                            return PageAction::Done;
                        }
                        Err(reason) => {
                            dialog.note = Some(format!("{reason}; open the page yourself, then press d"));
                        }
                    }
                }
                Ok(PageAction::Copy) => {
                    session.send_sequence(&clipboard_sequence(url));
                    dialog.note = Some("Copied, if your terminal allows it".to_owned());
                }
                Ok(PageAction::Done) => {
                    session.close("Going on");
                    return PageAction::Done;
                }
                Ok(PageAction::Decline) => {
                    session.close("Declined");
                    return PageAction::Decline;
                }
                Err(end) => {
                    self.finish_canceled(session, end).await;
                    return PageAction::Copy;
                }
            }
        }
    }

    async fn open_in_browser(&self, url: &str) -> Result<(), String> {
        let page = BrowserPage::parse(url).map_err(|error| error.to_string())?;
        match self.browser.open_page(&page).await {
            BrowserOutcome::Opened { .. } => Ok(()),
            BrowserOutcome::NoBrowser(reason) => Err(reason.to_string()),
        }
    }

    async fn confirm_visit(&self, page: &ElicitationPage) {
        let title = format!("Waiting for the page at {}", display_line(page.host()));
        let Ok(mut session) = self.open_session(&title).await else { return std::future::pending().await };
        match session.ask(&mut VisitDialog).await {
            Ok(()) => session.close("Going on"),
            Err(end) => {
                self.finish_canceled(session, end).await;
                std::future::pending().await
            }
        }
    }

    /// Ends a dialog that was canceled. After Ctrl-C the process gets the signal for it, and the question
    /// waits for its call to be dropped.
    async fn finish_canceled(&self, session: DialogSession, end: DialogEnd) {
        session.close("Canceled");
        match end {
            DialogEnd::Interrupted => {
                mcparley_platform::terminal::interrupt_self();
                tokio::time::sleep(CANCEL_TIME).await;
            }
            DialogEnd::TerminalClosed => {}
        }
    }
}

impl Approver for TerminalDialogs {
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        Box::pin(async move { self.ask_about_call(&PermissionSummary::from(&question)).await })
    }
}

impl Elicitor for TerminalDialogs {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        match question.request {
            ElicitationRequest::Form(form) => Box::pin(self.fill_form(question, form)),
            ElicitationRequest::Page(page) => Box::pin(self.offer_page(question, page)),
        }
    }

    fn wait_for_visit<'q>(&'q self, page: &'q ElicitationPage) -> BoxedFuture<'q, ()> {
        Box::pin(self.confirm_visit(page))
    }
}

impl SamplingApprover for TerminalDialogs {
    fn approve_request<'a>(&'a self, request: &'a SamplingRequest) -> BoxedFuture<'a, bool> {
        Box::pin(self.ask_about_sampling(request))
    }
}

impl PageOpener for TerminalDialogs {
    fn open_page<'p>(&'p self, server: &'p ServerName, page: &'p BrowserPage) -> BoxedFuture<'p, bool> {
        Box::pin(self.show_sign_in_page(server.as_str(), page, &[]))
    }
}

impl fmt::Debug for TerminalDialogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalDialogs").field("colors", &self.colors).finish_non_exhaustive()
    }
}

/// The control sequence that copies a text to the clipboard of the terminal.
pub(crate) fn clipboard_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

/// The whole item of an approval: every field as written, and as it would run.
fn entry_facts(entry: &ApprovalEntry) -> Vec<StyledLine> {
    let head = StyledLine::new(Tone::Bold, format!("{}  ", entry.kind));
    let mut facts = vec![
        head.with(Tone::Bold, display_line(&entry.summary)),
        StyledLine::new(Tone::Dim, format!("  {}", display_line(&entry.origin))),
    ];
    for field in &entry.fields {
        let (name, written) = (display_line(&field.name), display_line(&field.written));
        facts.push(StyledLine::plain(format!("  {name}: {written}")));
        if let Some(runs) = &field.runs {
            facts.push(StyledLine::plain(format!("    runs as: {}", display_line(runs))));
        }
    }
    facts
}
