//! Invalid command lines: unknown, missing and ambiguous words.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::HelpPageError;
use mcparley::model::explain::Explain;
use mcparley::model::similar::similar_names;
use mcparley::model::text::display_line;
use mcparley::resource::TemplateError;

/// The reason why a command line, or an environment variable in place of an option, is invalid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    /// The command line names no command.
    #[error("there is no command `{}`", display_line(word))]
    UnknownCommand { word: String, similar: Vec<String> },
    /// An environment variable has an unknown value.
    #[error("`{name}` must be one of `{}`", words.join("`, `"))]
    UnknownValue { name: &'static str, words: &'static [&'static str] },
    /// `--add-dir` names a folder that contains the whole home directory.
    #[error("`{}` is too broad: `/` and the home directory are never offered to servers", folder.display())]
    FolderTooWide { folder: PathBuf },
    /// `--add-dir` names a folder that does not exist.
    #[error("`{}` is not a folder", folder.display())]
    AddedFolderMissing { folder: PathBuf },
    /// `trust` names a folder that does not exist.
    #[error("`{}` is not a folder", folder.display())]
    FolderMissing { folder: PathBuf },
    /// The command needs a terminal.
    #[error("the screen of the servers needs a terminal")]
    NoTerminal,
    /// `ask` was given no question.
    #[error("there is no question")]
    QuestionMissing,
    /// A client secret is required, and none was given.
    #[error("no client secret was given")]
    SecretMissing { variable: &'static str },
    /// A client secret could not be read.
    #[error("cannot read the client secret from standard input: {error}")]
    SecretUnreadable { variable: &'static str, error: std::io::Error },
    /// The options after a tool are invalid.
    #[error("{}", first_line(.0))]
    TrailingOptions(clap::Error),
    /// `help` names no command.
    #[error(transparent)]
    HelpPage(HelpPageError),
    /// The arguments of a call are missing, and standard input was not read.
    #[error("{problem}")]
    UnreadInput { problem: String },
    /// `call` names a server without a tool.
    #[error("missing tool of server `{server}`")]
    ToolMissing { server: String },
    /// `prompt` names a server without a prompt.
    #[error("missing prompt of server `{server}`")]
    PromptMissing { server: String },
    /// A second tool follows the full name of a tool.
    #[error("`{name}` is already the full name of a tool; unexpected `{word}`")]
    ToolTwice { name: String, word: String },
    /// A full tool name matches no configured server.
    #[error("`{word}` is not a tool of a configured server")]
    UnknownTool { word: String },
    /// A full tool name matches tools of several servers.
    #[error("`{word}` matches several tools")]
    AmbiguousTool { word: String },
    /// Several skills of one server have the name.
    #[error("several skills are named `{name}`")]
    AmbiguousSkill { name: String, addresses: Vec<String> },
    /// Several agents define the server.
    #[error("several agents define `{server}`: {}", agents.join(", "))]
    AmbiguousAgent { server: String, agents: Vec<String> },
    /// The value of `permissions test --arguments` is no JSON object.
    #[error("the arguments are not a JSON object")]
    ArgumentsNotObject,
    /// `permissions allow --as-is` was combined with project scope.
    #[error("`--as-is` cannot be used with project scope")]
    ProjectScope,
    /// The value of `--issuer` is not the URL of an identity provider.
    #[error("`--issuer` is not the URL of an identity provider")]
    Issuer,
    /// A value for a resource template has no name.
    #[error("missing name of a template value")]
    UnnamedValue,
    /// The values do not match the resource template.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// `get --show-secrets` was used without a terminal.
    #[error("`--show-secrets` works only on a terminal")]
    SecretsWithoutTerminal,
    /// `import --from` was used without exactly one program.
    #[error("`--from` needs exactly one program")]
    ProgramMissing,
}

impl UsageError {
    /// The error for a misspelled command; `None` for any other error of clap.
    pub(crate) fn from_unknown_command(error: &clap::Error) -> Option<Self> {
        if error.kind() != ErrorKind::InvalidSubcommand {
            return None;
        }
        let word = context_words(error, ContextKind::InvalidSubcommand).into_iter().next()?;
        // Clap also suggests words that are far off, such as `skills` for `tolls`.
        let suggested = context_words(error, ContextKind::SuggestedSubcommand);
        let nearest = similar_names(&word, suggested.iter().map(String::as_str));
        let similar = if nearest.is_empty() { suggested } else { nearest };
        Some(Self::UnknownCommand { word, similar })
    }
}

impl Explain for UsageError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownCommand { similar, .. } => match similar.as_slice() {
                [] => "run `mcparley help` to list commands",
                similar => {
                    let similar = similar.join("`, `");
                    return Some(format!("did you mean `{similar}`? `mcparley help` lists all commands"));
                }
            },
            Self::UnknownValue { .. } => "use one of these values, or unset it",
            Self::FolderTooWide { .. } => {
                "use a more specific folder; to offer it to one server, set `roots` in its entry"
            }
            Self::AddedFolderMissing { .. } => "use an existing folder for `--add-dir`",
            Self::FolderMissing { .. } => "use an existing folder",
            Self::NoTerminal => "run `mcparley list` or `mcparley state` instead",
            Self::QuestionMissing => "write it behind `mcparley ask`, or pipe it to standard input",
            Self::SecretMissing { variable } => {
                return Some(format!("set `{variable}`, type the secret, or pipe it to standard input"));
            }
            Self::SecretUnreadable { variable, .. } => return Some(format!("set `{variable}` instead")),
            Self::TrailingOptions(_) | Self::Template(_) => return None,
            Self::HelpPage(HelpPageError { similar, .. }) => match similar.as_slice() {
                [] => "run `mcparley help` to list commands",
                similar => return Some(format!("did you mean `{}`?", similar.join("`, `"))),
            },
            Self::UnreadInput { .. } => "standard input is read only with `-` after the tool",
            Self::ToolMissing { server } => {
                return Some(format!("run `mcparley tools {server}` to list its tools"));
            }
            Self::PromptMissing { server } => {
                return Some(format!("run `mcparley prompts {server}` to list its prompts"));
            }
            Self::ToolTwice { .. } => "use server and tool, or the full name of the tool",
            Self::UnknownTool { .. } | Self::AmbiguousTool { .. } => {
                "use separate words: `mcparley permissions test SERVER TOOL`"
            }
            Self::AmbiguousSkill { addresses, .. } => {
                return Some(format!("use its URI: {}", addresses.join(", ")));
            }
            Self::AmbiguousAgent { .. } => "choose one with `--agent NAME`",
            Self::ArgumentsNotObject => r#"write them like --arguments '{"key":"value"}'"#,
            Self::ProjectScope => "use `--scope local` or `--scope user`",
            Self::Issuer => "use the `issuer` from the provider's metadata, a URL that begins with https://",
            Self::UnnamedValue => "write template values as name=value",
            Self::SecretsWithoutTerminal => "read the file itself; `mcparley get` shows its path",
            Self::ProgramMissing => "for example `mcparley import cursor --from mcp.json`",
        };
        Some(hint.to_owned())
    }
}

fn context_words(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
