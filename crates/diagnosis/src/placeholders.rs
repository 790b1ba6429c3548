//! Placeholders in the texts of `causes.json`, and their values for one server.
//!
//! Values come from the configuration, the plan or this machine, never from a server: a hint is a command
//! that the user may copy, so a server must not be able to write into it.

use std::collections::BTreeMap;

use mcparley_model::text::display_line;

/// A placeholder in a text of the table, written `{name}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blank {
    /// The server name, quoted for a shell.
    Server,
    /// The `--scope` option of the server.
    Scope,
    /// The file and line of the entry, or of the rule that blocks the server.
    File,
    /// The program of the server, secrets masked.
    Program,
    /// The working directory of the server.
    Folder,
    /// The host in the URL.
    Host,
    /// The port in the URL.
    Port,
    /// The HTTP status of the response.
    Status,
    /// The exit code of the process.
    Exit,
    /// The signal that ended the process.
    Signal,
    /// The connect timeout.
    Limit,
    /// The number of lines on standard output that are not MCP messages.
    Lines,
    /// An environment variable that the server needs.
    Variable,
    /// The program on the server's `PATH` with the most similar name.
    Nearest,
    /// The path of the program, if it exists in a folder outside of `PATH`.
    Elsewhere,
    /// The reason from the plan or the system.
    Reason,
    /// The hint from the plan or the system.
    Remedy,
}

impl Blank {
    pub(crate) const ALL: [Self; 17] = [
        Self::Server,
        Self::Scope,
        Self::File,
        Self::Program,
        Self::Folder,
        Self::Host,
        Self::Port,
        Self::Status,
        Self::Exit,
        Self::Signal,
        Self::Limit,
        Self::Lines,
        Self::Variable,
        Self::Nearest,
        Self::Elsewhere,
        Self::Reason,
        Self::Remedy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Scope => "scope",
            Self::File => "file",
            Self::Program => "program",
            Self::Folder => "folder",
            Self::Host => "host",
            Self::Port => "port",
            Self::Status => "status",
            Self::Exit => "exit",
            Self::Signal => "signal",
            Self::Limit => "limit",
            Self::Lines => "lines",
            Self::Variable => "variable",
            Self::Nearest => "nearest",
            Self::Elsewhere => "elsewhere",
            Self::Reason => "reason",
            Self::Remedy => "remedy",
        }
    }
}

/// The values of the placeholders for one server.
#[derive(Debug, Default)]
pub(crate) struct Blanks(BTreeMap<Blank, String>);

impl Blanks {
    pub(crate) fn set(&mut self, blank: Blank, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.insert(blank, display_line(&value.to_string()).into_owned());
        }
    }

    /// The text with its placeholders filled in; `None` if a value is missing.
    pub(crate) fn fill_text(&self, sentence: &str) -> Option<String> {
        self.write_text(sentence, |_| None)
    }

    /// The text with its placeholders filled in, and "not known" for missing values.
    pub(crate) fn fill_loosely(&self, sentence: &str) -> String {
        self.write_text(sentence, |_| Some("not known")).unwrap_or_default()
    }

    /// Fills in placeholders in one pass, so that a `{name}` inside of a value is not expanded again.
    fn write_text(&self, sentence: &str, open: impl Fn(Blank) -> Option<&'static str>) -> Option<String> {
        let mut written = String::with_capacity(sentence.len());
        let mut rest = sentence;
        while let Some((before, behind)) = rest.split_once('{') {
            written.push_str(before);
            let blank = Blank::ALL
                .into_iter()
                .find_map(|blank| Some((blank, behind.strip_prefix(blank.name())?.strip_prefix('}')?)));
            rest = match blank {
                Some((blank, behind)) => {
                    written.push_str(self.0.get(&blank).map(String::as_str).or_else(|| open(blank))?);
                    behind
                }
                None => {
                    written.push('{');
                    behind
                }
            };
        }
        written.push_str(rest);
        Some(written)
    }
}
