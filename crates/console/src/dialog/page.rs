//! The dialog for a page that the user is asked to visit: a server's page, or the page of a sign-in.

use crossterm::event::KeyCode;
use mcparley::elicit::{ElicitationPage, PageWarning};
use mcparley::model::text::display_line;

use super::key_reader::DialogInput;
use super::session::{DialogControls, DialogModel, DialogSize};
use super::styled_line::{StyledLine, Tone};

/// The decision of the user about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageAction {
    /// Open it in the browser, and go on.
    Open,
    /// Copy its URL; the dialog stays.
    Copy,
    /// Go on: the user has opened it, or will.
    Done,
    Decline,
}

/// The state of a question about a page.
#[derive(Debug, Default)]
pub(super) struct PageDialog {
    /// A remark about the last key: the URL was copied, or no browser could be started.
    pub(super) note: Option<String>,
}

impl DialogModel for PageDialog {
    type Answer = PageAction;

    fn handle_input(&mut self, input: &DialogInput) -> Option<PageAction> {
        let DialogInput::Key(key) = input else { return None };
        match key.code {
            KeyCode::Char('o' | 'O') => Some(PageAction::Open),
            KeyCode::Char('c' | 'C') => Some(PageAction::Copy),
            KeyCode::Char('d' | 'D') => Some(PageAction::Done),
            KeyCode::Esc => Some(PageAction::Decline),
            _ => None,
        }
    }

    fn controls(&self, _size: DialogSize) -> DialogControls {
        let note = self.note.iter().map(|note| StyledLine::new(Tone::Warning, display_line(note)));
        DialogControls {
            lines: note.collect(),
            cursor: None,
            keys: "o open · c copy · d done, go on · Esc decline · Ctrl-C cancel the call".to_owned(),
        }
    }
}

/// The wait for a page that the server still asks for.
#[derive(Debug)]
pub(super) struct VisitDialog;

impl DialogModel for VisitDialog {
    type Answer = ();

    fn handle_input(&mut self, input: &DialogInput) -> Option<()> {
        let DialogInput::Key(key) = input else { return None };
        matches!(key.code, KeyCode::Char('d' | 'D') | KeyCode::Enter).then_some(())
    }

    fn controls(&self, _size: DialogSize) -> DialogControls {
        DialogControls {
            keys: "d done, go on · Ctrl-C cancel the call".to_owned(),
            ..DialogControls::default()
        }
    }
}

/// The whole URL, with its host marked.
pub(super) fn url_line(url: &str, host: &str) -> StyledLine {
    let marked = url.find("://").map(|at| at + 3).and_then(|start| {
        let (before, rest) = url.split_at(start);
        rest.strip_prefix(host).map(|after| (before, after))
    });
    match marked {
        Some((before, after)) => StyledLine::plain(display_line(before))
            .with(Tone::Bold, display_line(host))
            .with(Tone::Plain, display_line(after)),
        None => StyledLine::plain(display_line(url)),
    }
}

/// The host of the URL on a line of its own.
pub(super) fn host_line(host: &str) -> StyledLine {
    StyledLine::new(Tone::Dim, "Host: ").with(Tone::Bold, display_line(host))
}

pub(super) fn page_warnings(page: &ElicitationPage) -> Vec<StyledLine> {
    let text = |warning: &PageWarning| match warning {
        PageWarning::Punycode => "! The host has characters that may look like others: check it.",
        PageWarning::IpAddress => "! The host is an IP address, not a name.",
        PageWarning::Unencrypted => "! The connection to this page is not encrypted.",
    };
    page.warnings.iter().map(|warning| StyledLine::new(Tone::Warning, text(warning))).collect()
}

#[cfg(test)]
mod tests;
