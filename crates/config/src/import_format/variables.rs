//! Rewrites variable references of other apps into our syntax: `${NAME}` and `${NAME:-default}`.
//!
//! Text that only looks like one of our references would suddenly expand, so it is escaped to expand to
//! itself. A note says so, because the user may have meant a variable.

use super::App;
use super::inputs::EditorInputs;
use super::references::ReferenceStyle;

/// The variable syntax of an app.
#[derive(Clone, Copy)]
pub(super) struct VariableSyntax<'a> {
    app: App,
    style: ReferenceStyle,
    inputs: &'a EditorInputs,
}

/// A text in our variable syntax.
#[derive(Default)]
pub(super) struct RewrittenText {
    pub(super) text: String,
    /// Notes for the user about the text; the caller adds the name of the field.
    pub(super) notes: Vec<ImportRemark>,
    /// Whether a part of the text is a reference to a file, which our syntax does not have.
    pub(super) from_file: bool,
}

impl RewrittenText {
    /// A text without references.
    pub(super) fn from_plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// A note about a rewritten text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ImportRemark {
    /// A note about this field only.
    Here(String),
    /// A note about a variable, added once for all fields that use it.
    Variable(String),
}

/// The meaning of a reference in the app.
enum ReferenceMeaning {
    Reference(String),
    Asked { reference: String, note: String },
    Text { text: &'static str, note: Option<String> },
    File,
    Nothing,
}

impl<'a> VariableSyntax<'a> {
    /// The syntax of `app`, with the inputs that its file declares.
    pub(super) fn for_app(app: App, inputs: &'a EditorInputs) -> Self {
        let style = match app {
            App::ClaudeDesktop | App::Codex | App::Zed => ReferenceStyle::Literal,
            App::Cline => ReferenceStyle::Env,
            App::Windsurf => ReferenceStyle::EnvAndFile,
            App::Cursor | App::VsCode => ReferenceStyle::Editor,
            App::OpenCode => ReferenceStyle::Braces,
            App::GeminiCli | App::QwenCode => ReferenceStyle::Shell,
        };
        Self { app, style, inputs }
    }

    /// Rewrites `text` into our syntax.
    pub(super) fn rewrite_text(&self, text: &str) -> RewrittenText {
        let mut rewritten = RewrittenText::default();
        let mut rest = text;
        while let Some(found) = self.style.next_reference(rest) {
            self.push_literal(found.before, &mut rewritten);
            match self.interpret_reference(found.inside) {
                ReferenceMeaning::Reference(reference) => rewritten.text.push_str(&reference),
                ReferenceMeaning::Asked { reference, note } => {
                    rewritten.text.push_str(&reference);
                    rewritten.notes.push(ImportRemark::Variable(note));
                }
                ReferenceMeaning::Text { text, note } => {
                    rewritten.text.push_str(text);
                    rewritten.notes.extend(note.map(ImportRemark::Here));
                }
                ReferenceMeaning::File => rewritten.from_file = true,
                ReferenceMeaning::Nothing => self.push_literal(found.whole, &mut rewritten),
            }
            rest = found.after;
        }
        self.push_literal(rest, &mut rewritten);
        rewritten
    }

    /// Appends text that must reach the server unchanged.
    ///
    /// Our syntax has no escape, but a default may be a lone `$`, and the text after it is not expanded
    /// again.
    fn push_literal(&self, text: &str, rewritten: &mut RewrittenText) {
        rewritten.text.push_str(&text.replace("${", "${DOLLAR:-$}{"));
        if text.contains("${") {
            rewritten.notes.push(ImportRemark::Here(format!(
                "{} passes this `${{` on as it is, so it stands here as `${{DOLLAR:-$}}{{`, \
                 which expands to the same",
                self.app.title()
            )));
        }
    }

    fn interpret_reference(&self, inside: &str) -> ReferenceMeaning {
        match self.style {
            ReferenceStyle::Literal => ReferenceMeaning::Nothing,
            ReferenceStyle::Env => self.interpret_env(inside).unwrap_or(ReferenceMeaning::Nothing),
            ReferenceStyle::EnvAndFile | ReferenceStyle::Braces => match inside.strip_prefix("file:") {
                Some(_) => ReferenceMeaning::File,
                None => self.interpret_env(inside).unwrap_or(ReferenceMeaning::Nothing),
            },
            ReferenceStyle::Editor => {
                self.interpret_env(inside).unwrap_or_else(|| self.interpret_predefined(inside))
            }
            ReferenceStyle::Shell => {
                let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
                // A default that contains a reference is valid in neither syntax.
                match is_variable_name(name) && !inside.contains("${") {
                    true => ReferenceMeaning::Reference(format!("${{{inside}}}")),
                    false => ReferenceMeaning::Nothing,
                }
            }
        }
    }

    fn interpret_env(&self, inside: &str) -> Option<ReferenceMeaning> {
        let name = inside.strip_prefix("env:")?.trim();
        Some(if is_variable_name(name) {
            ReferenceMeaning::Reference(format!("${{{name}}}"))
        } else {
            self.ask_for_variable(name, &format!("env:{name}"))
        })
    }

    fn interpret_predefined(&self, inside: &str) -> ReferenceMeaning {
        match inside {
            "workspaceFolder" | "workspaceRoot" | "cwd" => ReferenceMeaning::Text {
                text: ".",
                note: Some(format!("`${{{inside}}}` became `.`, the folder the server is started in")),
            },
            "userHome" => ReferenceMeaning::Reference("${HOME}".to_owned()),
            "pathSeparator" | "/" => ReferenceMeaning::Text { text: "/", note: None },
            "workspaceFolderBasename" | "execPath" => self.ask_for_variable(inside, inside),
            _ => match inside.split_once(':') {
                Some(("input", id)) => ReferenceMeaning::Asked {
                    reference: self.inputs.variable_reference(id),
                    note: self.inputs.setup_note(id),
                },
                Some(("config" | "command" | "workspaceFolder", _)) => self.ask_for_variable(inside, inside),
                Some(_) | None => ReferenceMeaning::Nothing,
            },
        }
    }

    /// Turns a reference that only the app can resolve into a variable for the user to set.
    fn ask_for_variable(&self, id: &str, inside: &str) -> ReferenceMeaning {
        let variable = variable_name(id);
        let app = self.app.title();
        let note =
            format!("set the variable `{variable}`: it stands for `{inside}`, which only {app} can fill in");
        ReferenceMeaning::Asked { reference: format!("${{{variable}}}"), note }
    }
}

/// Whether our syntax can refer to a variable called `name`.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Variables that a system sets by itself; using one for an input would silently take its value.
const TAKEN: [&str; 16] = [
    "DISPLAY", "EDITOR", "HOME", "HOST", "HOSTNAME", "LANG", "LOGNAME", "OS", "PATH", "PWD", "SHELL", "TEMP",
    "TERM", "TMP", "USER", "USERNAME",
];

/// Makes a variable name from an app's own: `api-key` becomes `API_KEY`.
pub(super) fn variable_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = id.chars().map(plain).collect();
    if is_variable_name(&name) && !TAKEN.contains(&name.as_str()) { name } else { format!("INPUT_{name}") }
}
