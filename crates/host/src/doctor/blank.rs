//! The blanks in the sentences of the table, and what stands in them for one server.
//!
//! What fills a blank comes from the configuration, the plan or this machine, never from a server.

use std::collections::BTreeMap;

use mcparley_model::text::display;

/// What a sentence of the table may leave open, written `{name}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Blank {
    /// The server's name, as a word of a shell command.
    Server,
    /// The option that names its scope.
    Scope,
    /// Where its entry stands, or the rule that stops it.
    File,
    /// Its program, secrets masked.
    Program,
    /// The folder it runs in.
    Folder,
    /// The host of its address.
    Host,
    /// The port of its address.
    Port,
    /// The HTTP status it answered with.
    Status,
    /// The code it exited with.
    Exit,
    /// The signal that ended it.
    Signal,
    /// How long connecting may take.
    Limit,
    /// How many lines on its standard output were no messages.
    Lines,
    /// A variable it asks for.
    Variable,
    /// The program on its `PATH` whose name comes nearest.
    Nearest,
    /// Where the program is, though not on its `PATH`.
    Elsewhere,
    /// Why the plan or the system says no.
    Reason,
    /// What the plan or the system says to do.
    Remedy,
}

impl Blank {
    pub(super) const ALL: [Self; 17] = [
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

    pub(super) fn name(self) -> &'static str {
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

/// What stands in the blanks for one server.
#[derive(Debug, Default)]
pub(super) struct Blanks(BTreeMap<Blank, String>);

impl Blanks {
    pub(super) fn set(&mut self, blank: Blank, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.insert(blank, display(&value.to_string()).into_owned());
        }
    }

    /// The sentence with its blanks filled; `None` when one of them stays open.
    pub(super) fn fill(&self, sentence: &str) -> Option<String> {
        self.write(sentence, |_| None)
    }

    /// The sentence with its blanks filled, an open one by a word for what is not known.
    pub(super) fn fill_loosely(&self, sentence: &str) -> String {
        self.write(sentence, |_| Some("not known")).unwrap_or_default()
    }

    /// In one pass, so that what fills a blank is never taken for one.
    fn write(&self, sentence: &str, open: impl Fn(Blank) -> Option<&'static str>) -> Option<String> {
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
