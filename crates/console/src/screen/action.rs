//! Actions of the screen: each command of the user, carried out by the host, and its outcome for the screen.
//!
//! Choices are recorded in the same files as by the commands `enable`, `disable` and `approve`, and the host
//! reads them again at once.

use std::io;

use crossterm::execute;
use crossterm::style::Print;
use mcparley::Host;
use mcparley::auth::browser::{Browser, BrowserOutcome};
use mcparley::auth::{BrowserPage, Flow, SignInMethod, SignInStatus};
use mcparley::config::ChangeError;
use mcparley::config::change::{self, WriteScope};
use mcparley::model::explain::Explain as _;
use mcparley::model::name::{ServerName, ToolName};
use mcparley::model::text::display_line;
use mcparley_platform::thread::run_blocking;
use tokio::sync::mpsc;

use super::approval::approval_popup;
use super::model::ScreenCommand;
use super::popup::{Popup, PopupQuestion};
use crate::dialog::clipboard_sequence;

/// The outcome of an action, for the screen.
#[derive(Debug)]
pub(super) enum ActionOutcome {
    /// A message for the last line.
    Message(String),
    /// A popup that replaces the present one.
    Show(Popup),
    /// The state of the sign-in to this server, in words.
    SignInState { server: ServerName, words: String },
    /// The sign-in to this server has ended, so that its popup is closed.
    SignInEnded { server: ServerName, message: String },
}

/// Executes the commands of the user.
#[derive(Clone, Debug)]
pub(super) struct ActionRunner {
    pub(super) host: Host,
    pub(super) browser: Option<Browser>,
    pub(super) outcomes: mpsc::Sender<ActionOutcome>,
}

impl ActionRunner {
    /// Executes a command, and reports its outcome.
    pub(super) async fn execute(self, command: ScreenCommand) {
        let outcome = match command {
            ScreenCommand::Reconnect(server) => self.reconnect_configured(&server).await,
            ScreenCommand::SwitchServer { server, on, is_configured } => {
                self.switch_server(&server, on, is_configured).await
            }
            ScreenCommand::SwitchTool { server, tool, on } => self.switch_tool(&server, &tool, on).await,
            ScreenCommand::SignIn(server) => self.sign_in(&server).await,
            ScreenCommand::OpenPage { page, .. } => self.open_page(&page).await,
            ScreenCommand::CopyPage(page) => copy_page(&page),
            ScreenCommand::ShowApproval(id) => approval_popup(&self.host.loaded_config(), &id)
                .map_or_else(ActionOutcome::Message, ActionOutcome::Show),
            ScreenCommand::Approve { server, definition } => {
                self.approve_definition(&server, &definition).await
            }
            ScreenCommand::Quit | ScreenCommand::ReadDetail => return,
        };
        self.report_outcome(outcome).await;
    }

    async fn report_outcome(&self, outcome: ActionOutcome) {
        // A screen that was closed needs no outcome.
        let _closed = self.outcomes.send(outcome).await;
    }

    /// Reads the configuration again, since it may have been mended, and connects.
    async fn reconnect_configured(&self, server: &ServerName) -> ActionOutcome {
        let name = display_line(server.as_str()).into_owned();
        self.report_outcome(ActionOutcome::Message(format!("Connecting to {name}…"))).await;
        let changes = self.host.reload().await;
        if !changes.changed.contains(server) && !changes.added.contains(server) {
            self.host.reconnect_server(server).await;
        }
        ActionOutcome::Message(match self.host.connect_server(server).await {
            Ok(()) => format!("{name} is connected"),
            Err(why) => format!("{name}: {}", display_line(&why.to_string())),
        })
    }

    async fn switch_server(&self, server: &ServerName, on: bool, is_configured: bool) -> ActionOutcome {
        let name = display_line(server.as_str()).into_owned();
        let mut still_disabled = None;
        if is_configured {
            let (paths, loaded) = (self.host.paths(), self.host.loaded_config());
            let changed = server.clone();
            let switched = change_files(move || match on {
                true => change::enable_server(&paths, &loaded, changed.as_str()),
                false => change::disable_server(&paths, &loaded, changed.as_str(), WriteScope::Local),
            });
            match switched.await {
                Ok(switched) => still_disabled = switched.still_disabled,
                Err(failure) => return failure,
            }
            self.host.reload().await;
        }
        // A server of the program itself, or a host that does not read its files again.
        let is_there = || self.host.servers().iter().any(|it| it.name == *server);
        if on {
            self.host.enable_server(server).await;
        } else if is_there() {
            self.host.disable_server(server).await;
        }
        ActionOutcome::Message(match (on, still_disabled) {
            (true, Some(by)) => format!("{name} is still disabled in {by}"),
            (true, None) => format!("{name} is enabled"),
            (false, _) => format!("{name} is disabled"),
        })
    }

    async fn switch_tool(&self, server: &ServerName, tool: &ToolName, on: bool) -> ActionOutcome {
        let (paths, loaded) = (self.host.paths(), self.host.loaded_config());
        let (server, tools) = (server.clone(), [tool.as_str().to_owned()]);
        let switched = change_files(move || match on {
            true => change::enable_tools(&paths, &loaded, server.as_str(), &tools),
            false => change::disable_tools(&paths, &loaded, server.as_str(), &tools),
        });
        let switched = match switched.await {
            Ok(switched) => switched,
            Err(failure) => return failure,
        };
        self.host.reload().await;
        let tool = display_line(tool.as_str());
        ActionOutcome::Message(match (on, switched.still_disabled) {
            (true, Some(glob)) => {
                format!("{tool} is still off by `{}` in `disabledTools`", display_line(&glob))
            }
            (true, None) => format!("{tool} is on"),
            (false, _) => format!("{tool} is off"),
        })
    }

    /// Begins a sign-in, and shows its page. The sign-in goes on while the popup is closed.
    async fn sign_in(&self, server: &ServerName) -> ActionOutcome {
        let name = display_line(server.as_str()).into_owned();
        let flow = match self.host.sign_in(server, SignInMethod::Browser).await {
            Ok(flow) => flow,
            Err(error) => return ActionOutcome::Message(format!("{name}: {}", error.to_single_line())),
        };
        self.report_outcome(ActionOutcome::Show(sign_in_popup(server, &flow))).await;
        let message = match flow.wait_until_done().await {
            Ok(()) => format!("Signed in to {name}"),
            Err(error) => format!("{name}: {}", error.to_single_line()),
        };
        ActionOutcome::SignInEnded { server: server.clone(), message }
    }

    /// Reads the state of the sign-in to a server from the vault.
    pub(super) async fn read_sign_in(self, server: ServerName) {
        let words = match self.host.account(&server) {
            Some(account) => match account.sign_in_status().await {
                Ok(SignInStatus::SignedIn { issuer, .. }) => {
                    format!("signed in at {}", issuer.display_line())
                }
                Ok(SignInStatus::Expired) => "expired; press l to sign in again".to_owned(),
                Ok(SignInStatus::SignedOut) if account.needs_user() => "not signed in".to_owned(),
                Ok(SignInStatus::SignedOut) => "signs in by itself when needed".to_owned(),
                Err(error) => format!("unknown: {error}"),
            },
            None => "none".to_owned(),
        };
        self.report_outcome(ActionOutcome::SignInState { server, words }).await;
    }

    async fn open_page(&self, page: &str) -> ActionOutcome {
        let opened = match (BrowserPage::parse(page), &self.browser) {
            (Ok(page), Some(browser)) => browser.open_page(&page).await,
            (Ok(_), None) => {
                return ActionOutcome::Message("there is no browser; open the page yourself".to_owned());
            }
            (Err(error), _) => return ActionOutcome::Message(error.to_string()),
        };
        ActionOutcome::Message(match opened {
            BrowserOutcome::Opened { .. } => "The page was opened in your browser".to_owned(),
            BrowserOutcome::NoBrowser(why) => display_line(&why.to_string()).into_owned(),
        })
    }

    async fn approve_definition(&self, server: &ServerName, definition: &str) -> ActionOutcome {
        let (paths, loaded) = (self.host.paths(), self.host.loaded_config());
        let (approved, definition) = (server.clone(), definition.to_owned());
        let approve =
            move || change::approve_server(&paths, &loaded, approved.as_str(), Some(definition.as_str()));
        let choice = match change_files(approve).await {
            Ok(choice) => choice,
            Err(failure) => return failure,
        };
        self.host.reload().await;
        let name = display_line(server.as_str());
        ActionOutcome::Message(match choice.still_rejected {
            Some(by) => format!("{name} is approved, but still rejected in {by}"),
            None => format!("{name} is approved as currently defined"),
        })
    }
}

/// Hands the page to the clipboard of the terminal, which may be on another machine.
fn copy_page(page: &str) -> ActionOutcome {
    ActionOutcome::Message(match execute!(io::stdout(), Print(clipboard_sequence(page))) {
        Ok(()) => "Copied, if your terminal allows it".to_owned(),
        Err(error) => error.to_string(),
    })
}

/// Changes files on a thread of its own: they are locked and synced, and the screen goes on meanwhile.
async fn change_files<T: Send + 'static>(
    change: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
) -> Result<T, ActionOutcome> {
    let message = || ActionOutcome::Message("the change was broken off; look at the files".to_owned());
    run_blocking(change).await.ok_or_else(message)?.map_err(|error| failed_change(&error))
}

fn failed_change(error: &ChangeError) -> ActionOutcome {
    let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
    ActionOutcome::Message(display_line(&format!("{error}{hint}")).into_owned())
}

/// The popup of a sign-in, with the page to open.
fn sign_in_popup(server: &ServerName, flow: &Flow) -> Popup {
    let name = display_line(server.as_str());
    let Some(page) = flow.page() else {
        let question = PopupQuestion::SignIn { server: server.clone(), page: None };
        return Popup::asking(question, &format!("Sign in to {name}"), "Signing in…");
    };
    let host = page.url().host_str().unwrap_or_default();
    let mut text = format!(
        "Open this page in a browser to sign in. It is a page of:\n\n  {}\n\n{}\n\n",
        display_line(host),
        page.as_str()
    );
    if let Some(origin) = flow.token_origin() {
        let origin = display_line(origin);
        text.push_str(&format!(
            "The token endpoint of this authorization server is on another site: {origin}\n\n"
        ));
    }
    if let Some(code) = flow.user_code() {
        text.push_str(&format!("Enter this code on the page: {}\n\n", display_line(code)));
    }
    text.push_str("The screen goes on by itself once you have signed in.");
    let question = PopupQuestion::SignIn { server: server.clone(), page: Some(page.as_str().to_owned()) };
    Popup::asking(question, &format!("Sign in to {name}"), &text)
}
