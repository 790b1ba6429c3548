//! Opens one source: found on the way, or named by the user.

use std::fmt;
use std::path::{Path, PathBuf};

use mcparley_model::config::Hint;
use mcparley_model::document::{Node, SyntaxError};
use mcparley_model::explain::Explain;
use mcparley_model::limits::CONFIG_FILE_BYTES;
use mcparley_model::scope::{Origin, Source};
use mcparley_model::settings::Warning;
use mcparley_platform::file::{self, Ownership, ReadError};
use serde::Serialize;

/// A source about to be read.
pub(super) enum Reading {
    /// A file that may be missing.
    Found { path: PathBuf, trust: Trust },
    /// A file the user named, which must be there.
    Named(PathBuf),
    /// Text the user gave.
    Text { text: String, label: &'static str },
    /// The administrator's file.
    Managed(PathBuf),
}

/// Whether others may have written a file that is only found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// It lies in the user's own folder.
    Own,
    /// It lies where anyone may have put it (B60).
    Checked,
}

/// A source that was read.
pub(super) struct Opened {
    pub(super) source: Source,
    pub(super) text: String,
    severity: Severity,
}

impl Reading {
    pub(super) fn plain(path: PathBuf) -> Self {
        Self::Found { path, trust: Trust::Own }
    }

    pub(super) fn shared(path: PathBuf) -> Self {
        Self::Found { path, trust: Trust::Checked }
    }

    /// What an option was given: JSON when it looks like it, else a path.
    pub(super) fn given(value: &str, option: &'static str, cwd: &Path) -> Self {
        if value.trim_start().starts_with('{') {
            Self::Text { text: value.to_owned(), label: option }
        } else {
            Self::Named(cwd.join(value))
        }
    }

    /// The file, if it is one.
    pub(super) fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Found { path, .. } | Self::Named(path) | Self::Managed(path) => Some(path),
            Self::Text { .. } => None,
        }
    }

    /// Reads it; `None` when there is nothing to read.
    pub(super) fn open(self) -> Result<Option<Opened>, Problem> {
        let (path, severity) = match self {
            Self::Text { text, label } => {
                return Ok(Some(Opened { source: Source::inline(label), text, severity: Severity::Given }));
            }
            Self::Named(path) => (path, Severity::Given),
            Self::Managed(path) => (path, Severity::Managed),
            Self::Found { path, trust } => return open_found(path, trust, CONFIG_FILE_BYTES),
        };
        let source = Source::file(path.clone());
        match file::read(&path, CONFIG_FILE_BYTES) {
            Ok(Some(text)) => Ok(Some(Opened { source, text: text.text, severity })),
            Ok(None) if severity == Severity::Managed => Ok(None),
            Ok(None) => Err(Problem::missing(source)),
            Err(error) => Err(Problem::unreadable(&error, severity)),
        }
    }
}

/// Reads a file that may be missing.
pub(super) fn open_found(path: PathBuf, trust: Trust, limit: u64) -> Result<Option<Opened>, Problem> {
    let text = match file::read(&path, limit) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(error) => return Err(Problem::unreadable(&error, Severity::Found)),
    };
    if trust == Trust::Checked && text.owner != Ownership::Trusted {
        return Err(Problem::untrusted(&path, text.owner));
    }
    Ok(Some(Opened { source: Source::file(path), text: text.text, severity: Severity::Found }))
}

impl Opened {
    /// What the file said before, in place of a file that has this problem.
    pub(super) fn earlier(problem: &Problem, text: &str) -> Self {
        Self { source: problem.origin.source.clone(), text: text.to_owned(), severity: problem.severity }
    }

    /// The file has become empty.
    pub(super) fn emptied(&self) -> Problem {
        Problem {
            message: "it is empty".to_owned(),
            origin: Origin::whole(self.source.clone()),
            hint: Some("a file that says nothing is written `{}`".to_owned()),
            severity: self.severity,
            may_pass: true,
        }
    }

    pub(super) fn problem(&self, error: &SyntaxError) -> Problem {
        Problem {
            message: error.reason.clone(),
            origin: Origin { source: self.source.clone(), place: Some(error.place) },
            hint: error.hint(),
            severity: self.severity,
            may_pass: true,
        }
    }
}

/// A source that could not be used, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub origin: Origin,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// How much it matters.
    pub severity: Severity,
    /// Whether it may be the trace of a write that is not finished. Until it is, what a running host read before goes
    /// on.
    #[serde(skip)]
    pub may_pass: bool,
}

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A file that was found: the others go on without it.
    Found,
    /// Something the user named for this run: the run makes no sense without it.
    Given,
    /// The administrator's file: nothing runs.
    Managed,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

impl Problem {
    pub(super) fn found(error: &impl Explain, source: Source) -> Self {
        let message = error.to_string();
        let (origin, hint) = (Origin::whole(source), error.hint());
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }

    pub(super) fn given(error: &impl Explain, source: Source) -> Self {
        Self { severity: Severity::Given, ..Self::found(error, source) }
    }

    pub(crate) fn unreadable(error: &ReadError, severity: Severity) -> Self {
        let place = match error {
            ReadError::NotUtf8 { line, column, .. } => Some(mcparley_model::scope::Place {
                line: u32::try_from(*line).unwrap_or(u32::MAX),
                column: u32::try_from(*column).unwrap_or(u32::MAX),
            }),
            _ => None,
        };
        let source = Source::file(error.path());
        let (message, hint) = (error.to_string(), error.hint());
        Self { message, origin: Origin { source, place }, hint, severity, may_pass: true }
    }

    pub(super) fn not_an_object(name: &str, node: Node<'_>) -> Self {
        Self {
            message: format!("`{name}` is {}, not an object", node.kind()),
            origin: node.origin(),
            hint: Some("servers stand in an object, each under its name".to_owned()),
            severity: Severity::Found,
            may_pass: false,
        }
    }

    pub(super) fn nothing_managed(source: Source) -> Self {
        Self {
            message: "it is empty".to_owned(),
            origin: Origin::whole(source),
            hint: Some("a managed file that says nothing is written `{}`".to_owned()),
            severity: Severity::Managed,
            may_pass: false,
        }
    }

    pub(super) fn no_servers(source: Source) -> Self {
        Self {
            message: "there is no `mcpServers` in it".to_owned(),
            origin: Origin::whole(source),
            hint: Some(r#"write {"mcpServers": {"name": {"command": "…"}}}"#.to_owned()),
            severity: Severity::Given,
            may_pass: false,
        }
    }

    pub(super) fn policy(fault: Warning) -> Self {
        let hint =
            Some("what it would have forbidden is not known, so nothing runs until it is mended".to_owned());
        let (message, origin) = (fault.text, fault.origin);
        Self { message, origin, hint, severity: Severity::Managed, may_pass: false }
    }

    pub(super) fn lock_file(reason: &str, path: &Path) -> Self {
        let hint = Some("close the editor and open it again, or remove the file".to_owned());
        let message = format!("the editor is not connected to: {reason}");
        let origin = Origin::whole(Source::file(path));
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }

    /// A lock file that is not read. Editors come and go: what it said before is of no use.
    pub(super) fn no_lock_file(error: &ReadError) -> Self {
        Self { may_pass: false, ..Self::unreadable(error, Severity::Found) }
    }

    /// `passed` are editors that are of no use here, each with the reason.
    pub(super) fn no_editor(folder: &Path, passed: &[Hint]) -> Self {
        let passed: Vec<&str> = passed.iter().map(|hint| hint.text.as_str()).collect();
        let hint = match passed.as_slice() {
            [] => "open this folder in an editor that has the extension".to_owned(),
            passed => passed.join("; "),
        };
        Self {
            message: "no editor has this folder open".to_owned(),
            origin: Origin::whole(Source::file(folder)),
            hint: Some(hint),
            severity: Severity::Found,
            may_pass: false,
        }
    }

    /// Something about an agent's file; the others do not mind.
    pub(super) fn agent(message: String, origin: Origin, hint: &str) -> Self {
        let hint = Some(hint.to_owned());
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }

    pub(super) fn plugin(message: String, source: Source, severity: Severity) -> Self {
        let hint = Some("a plugin is a folder with `.mcp.json` or `plugin.json`".to_owned());
        Self { message, origin: Origin::whole(source), hint, severity, may_pass: false }
    }

    pub(crate) fn missing(source: Source) -> Self {
        Self {
            message: "there is no such file".to_owned(),
            origin: Origin::whole(source),
            hint: Some("give a path, or JSON that begins with `{`".to_owned()),
            severity: Severity::Given,
            may_pass: true,
        }
    }

    fn untrusted(path: &Path, owner: Ownership) -> Self {
        let (message, hint) = match owner {
            Ownership::Trusted => ("it was not trusted".to_owned(), None),
            Ownership::OtherOwner { uid } => (
                format!("ignored: it belongs to user {uid}, neither you nor root"),
                Some(format!("if you trust it, make it yours: `chown $(id -u) {}`", path.display())),
            ),
            Ownership::WorldWritable { mode } => (
                format!("ignored: every user of this machine may write to it (mode {mode:o})"),
                Some(format!("`chmod o-w {}`", path.display())),
            ),
        };
        let origin = Origin::whole(Source::file(path));
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }
}
