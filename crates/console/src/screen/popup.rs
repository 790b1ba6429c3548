//! Popup above the screen: a text that scrolls, and perhaps a question.

use mcparley::model::name::ServerName;

use super::scroll_cursor::ScrollCursor;

/// The help of the screen.
const HELP: &str = "\
↑ ↓  or  k j    move the cursor
PgUp  PgDn      move by a screen
Home  End       move to the beginning or the end
← →  or  Tab    turn to another page of the selected server
Enter           open: the rows of the server, then a whole definition
Esc  or  q      go back; at the list of servers, leave

e               enable or disable: the server, or the tool under the cursor
r               reconnect the server, or try again
l               sign in to the server
a               look at an entry that waits for approval, and approve it
/               filter the rows; Esc removes the filter
s               sort the servers by name, state, scope or number of tools
?               show these keys

●  connected                            ◐  connecting or reconnecting
○  needs sign-in, or starts on demand   ×  failed, blocked or invalid
–  disabled, rejected, or waits for approval";

/// A text above the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Popup {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) question: PopupQuestion,
    pub(super) scroll: ScrollCursor,
}

/// The question that a popup asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PopupQuestion {
    /// None: the popup is read and closed.
    Nothing,
    /// Whether to approve the server with this definition.
    Approve { server: ServerName, definition: String },
    /// Whether to open the page of this server's sign-in in a browser.
    SignIn { server: ServerName, page: Option<String> },
}

impl Popup {
    /// A popup that is read and closed.
    pub(super) fn text(title: &str, text: &str) -> Self {
        Self::asking(PopupQuestion::Nothing, title, text)
    }

    /// A popup with a question.
    pub(super) fn asking(question: PopupQuestion, title: &str, text: &str) -> Self {
        let (title, text) = (title.to_owned(), text.trim_end().to_owned());
        Self { title, text, question, scroll: ScrollCursor::default() }
    }

    /// The help of the screen.
    pub(super) fn help() -> Self {
        Self::text("Keys", HELP)
    }

    /// The keys of the popup, for its lower edge.
    pub(super) fn key_hints(&self) -> &'static str {
        match &self.question {
            PopupQuestion::Nothing => "↑↓ scroll · Esc close",
            PopupQuestion::Approve { .. } => "y approve · Esc do not approve",
            PopupQuestion::SignIn { page: Some(_), .. } => {
                "o open in a browser · c copy the address · Esc close"
            }
            PopupQuestion::SignIn { page: None, .. } => "Esc close",
        }
    }
}
