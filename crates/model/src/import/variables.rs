//! Rewrites the ways apps refer to variables into ours: `${NAME}` and `${NAME:-default}` (C6).
//!
//! Text that only looks like one of ours would suddenly expand, so it is written in a way that expands to
//! itself. A note says so, for the person may have meant a variable all along.

use super::App;
use super::inputs::Inputs;
use super::references::Style;

/// How an app refers to variables.
#[derive(Clone, Copy)]
pub(super) struct Syntax<'a> {
    app: App,
    style: Style,
    inputs: &'a Inputs,
}

/// A text in our own syntax.
#[derive(Default)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// What a person should know about it; the field is named by the caller.
    pub(super) notes: Vec<Remark>,
    /// Whether a part of it is in a file, which nobody can refer to here.
    pub(super) from_file: bool,
}

impl Rewritten {
    /// A text with nothing to rewrite.
    pub(super) fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Something to know about a rewritten text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// About this field only.
    Here(String),
    /// About a variable, whichever fields use it.
    Variable(String),
}

/// What a reference means to the app.
enum Meaning {
    Reference(String),
    Asked { reference: String, note: String },
    Text { text: &'static str, note: Option<String> },
    File,
    Nothing,
}

impl<'a> Syntax<'a> {
    /// The syntax of `app`, with the inputs its text declares.
    pub(super) fn of(app: App, inputs: &'a Inputs) -> Self {
        let style = match app {
            App::ClaudeDesktop | App::Codex | App::Zed => Style::Literal,
            App::Cline => Style::Env,
            App::Windsurf => Style::EnvAndFile,
            App::Cursor | App::VsCode => Style::Editor,
            App::OpenCode => Style::Braces,
            App::GeminiCli => Style::Shell,
        };
        Self { app, style, inputs }
    }

    /// `text` in our own syntax.
    pub(super) fn rewrite(&self, text: &str) -> Rewritten {
        let mut rewritten = Rewritten::default();
        let mut rest = text;
        while let Some(found) = self.style.next_reference(rest) {
            self.literal(found.before, &mut rewritten);
            match self.meaning(found.inside) {
                Meaning::Reference(reference) => rewritten.text.push_str(&reference),
                Meaning::Asked { reference, note } => {
                    rewritten.text.push_str(&reference);
                    rewritten.notes.push(Remark::Variable(note));
                }
                Meaning::Text { text, note } => {
                    rewritten.text.push_str(text);
                    rewritten.notes.extend(note.map(Remark::Here));
                }
                Meaning::File => rewritten.from_file = true,
                Meaning::Nothing => self.literal(found.whole, &mut rewritten),
            }
            rest = found.after;
        }
        self.literal(rest, &mut rewritten);
        rewritten
    }

    /// Appends text that must reach the server as it is.
    ///
    /// Our syntax has no escape, but a default may be a lone `$`, and what follows it is not read again.
    fn literal(&self, text: &str, rewritten: &mut Rewritten) {
        rewritten.text.push_str(&text.replace("${", "${DOLLAR:-$}{"));
        if text.contains("${") {
            rewritten.notes.push(Remark::Here(format!(
                "{} passes this `${{` on as it is, so it stands here as `${{DOLLAR:-$}}{{`, \
                 which expands to the same",
                self.app.title()
            )));
        }
    }

    fn meaning(&self, inside: &str) -> Meaning {
        match self.style {
            Style::Literal => Meaning::Nothing,
            Style::Env => self.environment(inside).unwrap_or(Meaning::Nothing),
            Style::EnvAndFile | Style::Braces => match inside.strip_prefix("file:") {
                Some(_) => Meaning::File,
                None => self.environment(inside).unwrap_or(Meaning::Nothing),
            },
            Style::Editor => self.environment(inside).unwrap_or_else(|| self.predefined(inside)),
            Style::Shell => {
                let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
                // A default that holds a reference is one in no syntax.
                match is_variable_name(name) && !inside.contains("${") {
                    true => Meaning::Reference(format!("${{{inside}}}")),
                    false => Meaning::Nothing,
                }
            }
        }
    }

    fn environment(&self, inside: &str) -> Option<Meaning> {
        let name = inside.strip_prefix("env:")?.trim();
        Some(match is_variable_name(name) {
            true => Meaning::Reference(format!("${{{name}}}")),
            false => self.left_to_person(name, &format!("env:{name}")),
        })
    }

    fn predefined(&self, inside: &str) -> Meaning {
        match inside {
            "workspaceFolder" | "workspaceRoot" | "cwd" => Meaning::Text {
                text: ".",
                note: Some(format!("`${{{inside}}}` became `.`, the folder the server is started in")),
            },
            "userHome" => Meaning::Reference("${HOME}".to_owned()),
            "pathSeparator" | "/" => Meaning::Text { text: "/", note: None },
            "workspaceFolderBasename" | "execPath" => self.left_to_person(inside, inside),
            _ => match inside.split_once(':') {
                Some(("input", id)) => {
                    Meaning::Asked { reference: self.inputs.reference(id), note: self.inputs.note(id) }
                }
                Some(("config" | "command" | "workspaceFolder", _)) => self.left_to_person(inside, inside),
                Some(_) | None => Meaning::Nothing,
            },
        }
    }

    /// A reference only the app can follow becomes a variable to set.
    fn left_to_person(&self, id: &str, inside: &str) -> Meaning {
        let variable = variable_name(id);
        let app = self.app.title();
        let note =
            format!("set the variable `{variable}`: it stands for `{inside}`, which only {app} can fill in");
        Meaning::Asked { reference: format!("${{{variable}}}"), note }
    }
}

/// Whether our own syntax can refer to a variable called `name`.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Variables a system sets by itself; taking one for an input would silently use what it holds.
const TAKEN: [&str; 16] = [
    "DISPLAY", "EDITOR", "HOME", "HOST", "HOSTNAME", "LANG", "LOGNAME", "OS", "PATH", "PWD", "SHELL", "TEMP",
    "TERM", "TMP", "USER", "USERNAME",
];

/// A variable's name made from an app's own: `api-key` becomes `API_KEY`.
pub(super) fn variable_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = id.chars().map(plain).collect();
    match is_variable_name(&name) && !TAKEN.contains(&name.as_str()) {
        true => name,
        false => format!("INPUT_{name}"),
    }
}
