//! Configuration source: opens one file or inline text, and reports problems with it.

use std::fmt;
use std::path::{Path, PathBuf};

use mcparley_model::config::EntryHint;
use mcparley_model::document::{Node, SyntaxError};
use mcparley_model::explain::Explain;
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_model::settings::SettingsWarning;
use mcparley_platform::file::{FileReadError, Ownership};
use serde::Serialize;

use super::file_cache::{FileCache, FileRead};

/// A source that is about to be read.
pub(super) enum ConfigSource {
    /// A file at a default path, which may be missing.
    Found { path: PathBuf, trust: FileTrust },
    /// A file that the user named, which must exist.
    Named(PathBuf),
    /// Inline JSON that the user or the embedding program gave.
    Text { text: String, label: &'static str },
    /// The administrator's managed file.
    Managed(PathBuf),
}

/// Whether other users may have written a file at a default path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileTrust {
    /// The file is in the user's own folder.
    Own,
    /// The file is in a folder where any user may have put it, so its owner is checked.
    Checked,
}

/// A source that was read.
pub(super) struct OpenedSource {
    pub(super) source: Source,
    pub(super) text: String,
    severity: Severity,
}

impl ConfigSource {
    pub(super) fn user_file(path: PathBuf) -> Self {
        Self::Found { path, trust: FileTrust::Own }
    }

    pub(super) fn checked_file(path: PathBuf) -> Self {
        Self::Found { path, trust: FileTrust::Checked }
    }

    /// The source of an option's value: inline JSON if it starts with `{`, otherwise a path.
    pub(super) fn from_option(value: &str, option: &'static str, cwd: &Path) -> Self {
        if value.trim_start().starts_with('{') {
            Self::Text { text: value.to_owned(), label: option }
        } else {
            Self::Named(cwd.join(value))
        }
    }

    /// The path, if the source is a file.
    pub(super) fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Found { path, .. } | Self::Named(path) | Self::Managed(path) => Some(path),
            Self::Text { .. } => None,
        }
    }

    /// Reads the source; `None` when an optional file does not exist.
    pub(super) fn open(self, files: &mut FileCache) -> Result<Option<OpenedSource>, ConfigProblem> {
        let (path, severity) = match self {
            Self::Text { text, label } => {
                return Ok(Some(OpenedSource {
                    source: Source::from_label(label),
                    text,
                    severity: Severity::Given,
                }));
            }
            Self::Named(path) => (path, Severity::Given),
            Self::Managed(path) => (path, Severity::Managed),
            Self::Found { path, trust } => {
                let read = files.read_file(&path);
                return open_found(path, trust, &read);
            }
        };
        let source = Source::from_path(path.clone());
        match &*files.read_file(&path) {
            Ok(Some(text)) => Ok(Some(OpenedSource { source, text: text.text.clone(), severity })),
            Ok(None) if severity == Severity::Managed => Ok(None),
            Ok(None) => Err(ConfigProblem::missing_file(source)),
            Err(error) => Err(ConfigProblem::unreadable_file(error, severity)),
        }
    }
}

/// Checks a file at a default path after reading; `None` when it does not exist.
pub(super) fn open_found(
    path: PathBuf,
    trust: FileTrust,
    read: &FileRead,
) -> Result<Option<OpenedSource>, ConfigProblem> {
    let text = match read {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(error) => return Err(ConfigProblem::unreadable_file(error, Severity::Found)),
    };
    if trust == FileTrust::Checked && text.owner != Ownership::Trusted {
        return Err(ConfigProblem::untrusted_file(&path, text.owner));
    }
    Ok(Some(OpenedSource {
        source: Source::from_path(path),
        text: text.text.clone(),
        severity: Severity::Found,
    }))
}

impl OpenedSource {
    /// The last known good text in place of a file that has this problem.
    pub(super) fn from_earlier(problem: &ConfigProblem, text: &str) -> Self {
        Self { source: problem.origin.source.clone(), text: text.to_owned(), severity: problem.severity }
    }

    /// The problem of a file that has become empty.
    pub(super) fn empty_file_problem(&self) -> ConfigProblem {
        ConfigProblem {
            message: "it is empty".to_owned(),
            origin: ConfigOrigin::for_source(self.source.clone()),
            hint: Some("write `{}` for an empty file".to_owned()),
            severity: self.severity,
            may_pass: true,
        }
    }

    pub(super) fn syntax_problem(&self, error: &SyntaxError) -> ConfigProblem {
        ConfigProblem {
            message: error.reason.clone(),
            origin: ConfigOrigin { source: self.source.clone(), place: Some(error.place) },
            hint: error.hint(),
            severity: self.severity,
            may_pass: true,
        }
    }
}

/// A problem with a configuration source, with a hint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    /// The error message.
    pub message: String,
    /// The file and line.
    pub origin: ConfigOrigin,
    /// The hint: the fix or the command to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The effect of the problem on the run.
    pub severity: Severity,
    /// Whether the problem may be temporary, such as a write in progress. A running host then uses the last
    /// known good content.
    #[serde(skip)]
    pub may_pass: bool,
}

/// The effect of a problem on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A file at a default path: the others are used without it.
    Found,
    /// A source that the user named for this run: the run fails without it.
    Given,
    /// The administrator's file: no server runs.
    Managed,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

impl ConfigProblem {
    pub(super) fn from_found(error: &impl Explain, source: Source) -> Self {
        let message = error.to_string();
        let (origin, hint) = (ConfigOrigin::for_source(source), error.hint());
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }

    pub(super) fn from_given(error: &impl Explain, source: Source) -> Self {
        Self { severity: Severity::Given, ..Self::from_found(error, source) }
    }

    pub(crate) fn unreadable_file(error: &FileReadError, severity: Severity) -> Self {
        let place = match error {
            FileReadError::NotUtf8 { line, column, .. } => Some(mcparley_model::scope::TextPosition {
                line: u32::try_from(*line).unwrap_or(u32::MAX),
                column: u32::try_from(*column).unwrap_or(u32::MAX),
            }),
            _ => None,
        };
        let source = Source::from_path(error.path());
        let (message, hint) = (error.to_string(), error.hint());
        Self { message, origin: ConfigOrigin { source, place }, hint, severity, may_pass: true }
    }

    pub(super) fn not_an_object(name: &str, node: Node<'_>) -> Self {
        Self {
            message: format!("`{name}` is {}, not an object", node.kind()),
            origin: node.origin(),
            hint: Some("write the servers as an object, each under its name".to_owned()),
            severity: Severity::Found,
            may_pass: false,
        }
    }

    pub(super) fn empty_managed_file(source: Source) -> Self {
        Self {
            message: "it is empty".to_owned(),
            origin: ConfigOrigin::for_source(source),
            hint: Some("write `{}` for an empty managed file".to_owned()),
            severity: Severity::Managed,
            may_pass: false,
        }
    }

    pub(super) fn no_servers(source: Source) -> Self {
        Self {
            message: "there is no `mcpServers` in it".to_owned(),
            origin: ConfigOrigin::for_source(source),
            hint: Some(r#"write {"mcpServers": {"name": {"command": "…"}}}"#.to_owned()),
            severity: Severity::Given,
            may_pass: false,
        }
    }

    pub(super) fn broken_policy(fault: SettingsWarning) -> Self {
        let hint = Some("its policy is unknown, so no server runs until it is fixed".to_owned());
        let (message, origin) = (fault.text, fault.origin);
        Self { message, origin, hint, severity: Severity::Managed, may_pass: false }
    }

    pub(super) fn lock_file(reason: &str, path: &Path) -> Self {
        let hint = Some("close the editor and open it again, or remove the file".to_owned());
        let message = format!("cannot connect to the editor: {reason}");
        let origin = ConfigOrigin::for_source(Source::from_path(path));
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }

    /// A lock file that cannot be read. Never temporary: an earlier lock file of an editor is of no use.
    pub(super) fn unreadable_lock_file(error: &FileReadError) -> Self {
        Self { may_pass: false, ..Self::unreadable_file(error, Severity::Found) }
    }

    /// No editor has the folder open. `passed` lists the unusable editors, each with the reason.
    pub(super) fn no_editor(folder: &Path, passed: &[EntryHint]) -> Self {
        let passed: Vec<&str> = passed.iter().map(|hint| hint.text.as_str()).collect();
        let hint = match passed.as_slice() {
            [] => "open this folder in an editor that has the extension".to_owned(),
            passed => passed.join("; "),
        };
        Self {
            message: "no editor has this folder open".to_owned(),
            origin: ConfigOrigin::for_source(Source::from_path(folder)),
            hint: Some(hint),
            severity: Severity::Found,
            may_pass: false,
        }
    }

    /// A problem in an agent file; the other agents are not affected.
    pub(super) fn in_agent_file(message: String, origin: ConfigOrigin, hint: &str) -> Self {
        let hint = Some(hint.to_owned());
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }

    pub(super) fn in_plugin(message: String, source: Source, severity: Severity) -> Self {
        let hint = Some("a plugin is a folder with `.mcp.json` or `plugin.json`".to_owned());
        Self { message, origin: ConfigOrigin::for_source(source), hint, severity, may_pass: false }
    }

    pub(crate) fn missing_file(source: Source) -> Self {
        Self {
            message: "there is no such file".to_owned(),
            origin: ConfigOrigin::for_source(source),
            hint: Some("give a path, or JSON that begins with `{`".to_owned()),
            severity: Severity::Given,
            may_pass: true,
        }
    }

    fn untrusted_file(path: &Path, owner: Ownership) -> Self {
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
        let origin = ConfigOrigin::for_source(Source::from_path(path));
        Self { message, origin, hint, severity: Severity::Found, may_pass: false }
    }
}
