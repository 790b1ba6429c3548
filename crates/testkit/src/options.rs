//! The command line of the scripted servers, read once.

use mcparley_testkit::{Argument, Asked, Lies, Name, Place};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// The stateless revision.
pub(crate) const NEW: &str = "2026-07-28";

/// The revisions with a handshake, newest first.
pub(crate) const OLD: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What the command line says.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) scripts: Scripts,
    /// What the authorization server is told; none is there unless it is told something.
    pub(crate) lies: Option<Lies>,
    /// The revisions it speaks, newest first.
    pub(crate) versions: Vec<String>,
    pub(crate) log: Option<PathBuf>,
    pub(crate) tag: OsString,
    /// The method whose requests are met with faults; each script has its standard.
    pub(crate) on: Option<String>,
    /// How many requests are met with faults.
    pub(crate) times: u64,
    pub(crate) answer: Answer,
    pub(crate) port: u16,
    /// Set when this process has already been started again with signals ignored.
    pub(crate) deaf: bool,
}

/// How a request is answered over HTTP when both forms would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Json,
    Sse,
}

/// The scripts that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Scripts(Vec<Asked>);

impl Scripts {
    pub(crate) fn argument(&self, name: Name) -> Option<&Argument> {
        self.0.iter().find(|asked| asked.name == name).map(|asked| &asked.argument)
    }

    pub(crate) fn has(&self, name: Name) -> bool {
        self.argument(name).is_some()
    }

    pub(crate) fn number(&self, name: Name) -> Option<u64> {
        match self.argument(name)? {
            Argument::Number(number) => Some(*number),
            Argument::Nothing | Argument::Text(_) => None,
        }
    }

    pub(crate) fn text(&self, name: Name) -> Option<&str> {
        match self.argument(name)? {
            Argument::Text(text) => Some(text),
            Argument::Nothing | Argument::Number(_) => None,
        }
    }
}

impl Options {
    /// Reads what stands behind `stdio` or `http`.
    pub(crate) fn read(place: Place, arguments: &[OsString]) -> Result<Self, String> {
        let mut options = Self::standard();
        let mut rest = arguments.iter();
        let mut once = None;
        while let Some(option) = rest.next() {
            if option == "--deaf" {
                options.deaf = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("`{}` needs a value", option.to_string_lossy()))?;
            let text = value.to_str().ok_or("an argument is not Unicode")?;
            match option.to_str() {
                Some("--script") => options.scripts.0.push(script(place, text)?),
                Some("--auth") if place == Place::Http => options.protect(text)?,
                Some("--versions") => options.versions = versions(text)?,
                Some("--log") => options.log = Some(text.into()),
                Some("--tag") => options.tag.clone_from(value),
                Some("--on") => options.on = Some(text.to_owned()),
                Some("--times") => options.times = text.parse().map_err(|_| "`--times` is no number")?,
                Some("--once") => once = Some(Path::new(text)),
                Some("--answer") => options.answer = answer(text)?,
                Some("--port") => options.port = text.parse().map_err(|_| "`--port` is no port")?,
                _ => return Err(format!("no option is called `{}`", option.to_string_lossy())),
            }
        }
        // The second life of a deaf process is still the same server.
        if let Some(path) = once.filter(|_| !options.deaf) {
            options.lie_once(path)?;
        }
        Ok(options)
    }

    fn standard() -> Self {
        Self {
            scripts: Scripts::default(),
            lies: None,
            versions: OLD.map(str::to_owned).to_vec(),
            log: None,
            tag: OsString::from("testkit"),
            on: None,
            times: u64::MAX,
            answer: Answer::Json,
            port: 0,
            deaf: false,
        }
    }

    /// An authorization server keeps the door; `right` for one that was told nothing.
    fn protect(&mut self, text: &str) -> Result<(), String> {
        let lies = self.lies.get_or_insert_default();
        if text == "right" { Ok(()) } else { lies.tell(text) }
    }

    /// Only the process that creates `path` lies; those started after it tell the truth.
    fn lie_once(&mut self, path: &Path) -> Result<(), String> {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(_) => Ok(()),
            Err(_) if path.exists() => {
                self.scripts = Scripts::default();
                Ok(())
            }
            Err(error) => Err(format!("`{}`: {error}", path.display())),
        }
    }

    pub(crate) fn speaks_new(&self) -> bool {
        self.versions.iter().any(|version| version == NEW)
    }

    /// The revisions with a handshake that it speaks, newest first.
    pub(crate) fn old(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(String::as_str).filter(|&version| version != NEW)
    }
}

fn script(place: Place, text: &str) -> Result<Asked, String> {
    let asked = Asked::read(text)?;
    match asked.name.script().map(|script| script.place) {
        Some(known) if known == place || known == Place::Both => Ok(asked),
        Some(_) | None => Err(format!("this server cannot do `{text}`")),
    }
}

fn versions(text: &str) -> Result<Vec<String>, String> {
    let mut versions: Vec<String> = text.split(',').map(str::to_owned).collect();
    // Revisions are dates, so the order of text is the order of time.
    versions.sort_by(|one, other| other.cmp(one));
    match versions.iter().find(|version| *version != NEW && !OLD.contains(&version.as_str())) {
        Some(version) => Err(format!("no revision is called `{version}`")),
        None => Ok(versions),
    }
}

fn answer(text: &str) -> Result<Answer, String> {
    match text {
        "json" => Ok(Answer::Json),
        "sse" => Ok(Answer::Sse),
        _ => Err(format!("no answer is called `{text}`")),
    }
}
