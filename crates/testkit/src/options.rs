//! The command line of the scripted servers, parsed once.

use mcparley_testkit::{LieSet, Name, Place, RequestedScript, ScriptArgument};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// The stateless protocol revision.
pub(crate) const NEW: &str = "2026-07-28";

/// The protocol revisions with a handshake, newest first.
pub(crate) const OLD: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The options of the command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) scripts: RequestedScripts,
    /// The lies of the authorization server; there is none without `--auth`.
    pub(crate) lies: Option<LieSet>,
    /// The supported protocol revisions, newest first.
    pub(crate) versions: Vec<String>,
    pub(crate) log: Option<PathBuf>,
    pub(crate) tag: OsString,
    /// The method whose requests get faults; each script has its default.
    pub(crate) on: Option<String>,
    /// The number of requests that get faults.
    pub(crate) times: u64,
    pub(crate) answer: AnswerFormat,
    pub(crate) port: u16,
    /// Whether this process has already been restarted with signals ignored.
    pub(crate) deaf: bool,
    /// Whether the received messages are kept out of the protocol record, because a test wrote them by hand.
    pub(crate) unrecorded: bool,
}

/// The format of an HTTP response where both would be valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerFormat {
    Json,
    Sse,
}

/// The requested scripts.
#[derive(Debug, Default)]
pub(crate) struct RequestedScripts(Vec<RequestedScript>);

impl RequestedScripts {
    pub(crate) fn argument(&self, name: Name) -> Option<&ScriptArgument> {
        self.0.iter().find(|asked| asked.name == name).map(|asked| &asked.argument)
    }

    pub(crate) fn has(&self, name: Name) -> bool {
        self.argument(name).is_some()
    }

    pub(crate) fn number(&self, name: Name) -> Option<u64> {
        match self.argument(name)? {
            ScriptArgument::Number(number) => Some(*number),
            ScriptArgument::Nothing | ScriptArgument::Text(_) => None,
        }
    }

    pub(crate) fn text(&self, name: Name) -> Option<&str> {
        match self.argument(name)? {
            ScriptArgument::Text(text) => Some(text),
            ScriptArgument::Nothing | ScriptArgument::Number(_) => None,
        }
    }
}

impl Options {
    /// Parses the arguments of `stdio` or `http`.
    pub(crate) fn parse(place: Place, arguments: &[OsString]) -> Result<Self, String> {
        let mut options = Self::with_defaults();
        let mut rest = arguments.iter();
        let mut once = None;
        while let Some(option) = rest.next() {
            if option == "--deaf" {
                options.deaf = true;
                continue;
            }
            if option == "--unrecorded" {
                options.unrecorded = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("`{}` needs a value", option.to_string_lossy()))?;
            let text = value.to_str().ok_or("an argument is not Unicode")?;
            match option.to_str() {
                Some("--script") => options.scripts.0.push(parse_script(place, text)?),
                Some("--auth") if place == Place::Http => options.add_auth_server(text)?,
                Some("--versions") => options.versions = parse_versions(text)?,
                Some("--log") => options.log = Some(text.into()),
                Some("--tag") => options.tag.clone_from(value),
                Some("--on") => options.on = Some(text.to_owned()),
                Some("--times") => options.times = text.parse().map_err(|_| "`--times` is not a number")?,
                Some("--once") => once = Some(Path::new(text)),
                Some("--answer") => options.answer = parse_answer_format(text)?,
                Some("--port") => options.port = text.parse().map_err(|_| "`--port` is not a port")?,
                _ => return Err(format!("unknown option `{}`", option.to_string_lossy())),
            }
        }
        // A process restarted with signals ignored is still the same server.
        if let Some(path) = once.filter(|_| !options.deaf) {
            options.enable_faults_once(path)?;
        }
        Ok(options)
    }

    fn with_defaults() -> Self {
        Self {
            scripts: RequestedScripts::default(),
            lies: None,
            versions: OLD.map(str::to_owned).to_vec(),
            log: None,
            tag: OsString::from("testkit"),
            on: None,
            times: u64::MAX,
            answer: AnswerFormat::Json,
            port: 0,
            deaf: false,
            unrecorded: false,
        }
    }

    /// Adds an authorization server; `right` is one without lies.
    fn add_auth_server(&mut self, text: &str) -> Result<(), String> {
        let lies = self.lies.get_or_insert_default();
        if text == "right" { Ok(()) } else { lies.add_lie(text) }
    }

    /// Lets only the process that creates `path` be faulty; those started after it are correct.
    fn enable_faults_once(&mut self, path: &Path) -> Result<(), String> {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(_) => Ok(()),
            Err(_) if path.exists() => {
                self.scripts = RequestedScripts::default();
                Ok(())
            }
            Err(error) => Err(format!("`{}`: {error}", path.display())),
        }
    }

    pub(crate) fn supports_new_era(&self) -> bool {
        self.versions.iter().any(|version| version == NEW)
    }

    /// The supported protocol revisions with a handshake, newest first.
    pub(crate) fn old_era_versions(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(String::as_str).filter(|&version| version != NEW)
    }
}

fn parse_script(place: Place, text: &str) -> Result<RequestedScript, String> {
    let asked = RequestedScript::parse(text)?;
    match asked.name.script().map(|script| script.place) {
        Some(known) if known == place || known == Place::Both => Ok(asked),
        Some(_) | None => Err(format!("this server does not support `{text}`")),
    }
}

fn parse_versions(text: &str) -> Result<Vec<String>, String> {
    let mut versions: Vec<String> = text.split(',').map(str::to_owned).collect();
    // Revisions are dates, so text order is time order.
    versions.sort_by(|one, other| other.cmp(one));
    match versions.iter().find(|version| *version != NEW && !OLD.contains(&version.as_str())) {
        Some(version) => Err(format!("unknown revision `{version}`")),
        None => Ok(versions),
    }
}

fn parse_answer_format(text: &str) -> Result<AnswerFormat, String> {
    match text {
        "json" => Ok(AnswerFormat::Json),
        "sse" => Ok(AnswerFormat::Sse),
        _ => Err(format!("unknown answer format `{text}`")),
    }
}
