//! Errors of edits to configuration files.

use std::convert::Infallible;
use std::path::PathBuf;

use crate::json_editor::EditError;
use crate::plan::BlockReason;
use mcparley_model::config::ConfigError;
use mcparley_model::explain::Explain;
use mcparley_model::limits::BOUND_RULES;
use mcparley_model::name::{NameError, ServerName, normalize_server};
use mcparley_model::permission::RuleError;
use mcparley_model::policy::PolicyViolation;
use mcparley_model::scope::ConfigOrigin;
use mcparley_model::text::{display_line, shell_word};
use mcparley_platform::file::{FileReadError, FileUpdateError, FileWriteError};

use crate::edit_target::WriteScope;
use crate::setup_error::SetupError;

/// The error of an edit that was refused or failed; the files are unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The server name is not valid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The server entry is not valid.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The file cannot be edited in place.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The file cannot be read.
    #[error(transparent)]
    Read(FileReadError),
    /// The file cannot be written.
    #[error(transparent)]
    Write(FileWriteError),
    /// The name already exists in this scope.
    #[error("`{name}` already exists in {scope} scope ({})", file.display())]
    Exists {
        /// The name.
        name: String,
        /// The scope.
        scope: &'static str,
        /// The file that declares it.
        file: PathBuf,
    },
    /// A policy forbids the server.
    #[error("`{name}` is not allowed: {block}")]
    Blocked {
        /// The server.
        name: String,
        /// The rule.
        block: Box<BlockReason>,
    },
    /// The command of the server is mcparley.
    #[error("`{name}` would start mcparley itself")]
    StartsItself {
        /// The server.
        name: String,
    },
    /// The entry is in no file that the user may edit.
    #[error("the entry of `{name}` is not in a file that you can edit")]
    NotEditable {
        /// The server.
        name: String,
    },
    /// No server has this name.
    #[error("there is no server named `{name}`{}", scope_suffix(*scope))]
    NotFound {
        /// The name.
        name: String,
        /// The scope that was searched; absent means all.
        scope: Option<WriteScope>,
        /// Similar names.
        similar: Vec<String>,
    },
    /// The name is declared in several scopes.
    #[error("`{name}` is declared in several scopes: {}", join_scopes(scopes))]
    Ambiguous {
        /// The name.
        name: String,
        /// The scopes.
        scopes: Vec<WriteScope>,
    },
    /// The server does not come from the project, and only project servers are approved or rejected.
    #[error("`{name}` does not come from the project; it needs no approval")]
    NotAProjectServer {
        /// The server.
        name: String,
    },
    /// A server of the project folder cannot be written to a file that counts for every project.
    #[error("`{name}` comes from this folder and is not approved; it cannot be added to user scope")]
    FromFolder {
        /// The server.
        name: String,
    },
    /// The definition is not the one that the user looked at.
    #[error("`{name}` has changed since you looked at it: its definition is now {actual}")]
    OtherDefinition {
        /// The server.
        name: String,
        /// The current definition.
        actual: String,
    },
    /// The server is invalid, so it cannot be approved.
    #[error("`{name}` cannot be approved as it is written: {reason}")]
    Unusable {
        /// The server.
        name: String,
        /// The error in the entry.
        reason: String,
    },
    /// No hook, or more than one, has this definition.
    #[error("there is no hook `{definition}`, or more than one starts with it")]
    NoSuchHook {
        /// The definition as the user typed it.
        definition: String,
    },
    /// The hook does not come from the project, and only project hooks are approved or rejected.
    #[error("the hook `{hook}` does not come from the project; it needs no approval")]
    NotAProjectHook {
        /// The command of the hook, with secrets masked.
        hook: String,
    },
    /// The text is not a permission rule.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The rule is in no file that the user may edit.
    #[error("no rule `{}` is in a file that you can edit{}", display_line(rule), scope_suffix(*scope))]
    NoSuchRule {
        /// The rule.
        rule: String,
        /// The scope that was searched; absent means all.
        scope: Option<WriteScope>,
        /// The origin of the rule, if it is in a file that the user may not edit.
        elsewhere: Option<ConfigOrigin>,
    },
    /// The limit of rules that are bound to a tool definition is reached.
    #[error("there are {BOUND_RULES} \"always allow\" rules already")]
    TooManyBound,
    /// The server does not offer the tool.
    #[error("server `{}` offers no tool `{}`", display_line(server), display_line(tool))]
    NoSuchTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A client was not connected or disconnected.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The edit ended without a result.
    #[error("nothing was done to {}", file.display())]
    NothingDone {
        /// The file.
        file: PathBuf,
    },
}

fn scope_suffix(scope: Option<WriteScope>) -> String {
    scope.map(|scope| format!(" in {} scope", scope.as_str())).unwrap_or_default()
}

fn join_scopes(scopes: &[WriteScope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ")
}

impl From<FileUpdateError<EditError>> for ChangeError {
    fn from(error: FileUpdateError<EditError>) -> Self {
        match error {
            FileUpdateError::Read(error) => Self::Read(error),
            FileUpdateError::Write(error) => Self::Write(error),
            FileUpdateError::Refused(error) => Self::Edit(error),
        }
    }
}

impl ChangeError {
    /// The error of a file that could not be removed.
    pub(crate) fn from_removal(error: FileUpdateError<Infallible>) -> Self {
        match error {
            FileUpdateError::Read(error) => Self::Read(error),
            FileUpdateError::Write(error) => Self::Write(error),
            FileUpdateError::Refused(never) => match never {},
        }
    }

    /// The error of a file that could not be changed.
    pub(crate) fn from_update(error: FileUpdateError<Self>) -> Self {
        match error {
            FileUpdateError::Read(error) => Self::Read(error),
            FileUpdateError::Write(error) => Self::Write(error),
            FileUpdateError::Refused(error) => error,
        }
    }
}

impl Explain for ChangeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Name(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Edit(error) => error.hint(),
            Self::Read(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::Exists { name, scope, .. } => Some(format!(
                "`--force` replaces it, `mcparley remove {name} -s {scope}` removes it; or choose another name"
            )),
            Self::Blocked { block, .. } => blocked_hint(block),
            Self::StartsItself { .. } => {
                Some("`mcparley connect CLIENT` offers your servers to another program".to_owned())
            }
            Self::NotEditable { name } => {
                let server = normalize_server(&ServerName::new(name));
                Some(format!("deny its tools instead: `mcparley permissions deny mcp__{server}__TOOL`"))
            }
            Self::NotFound { similar, .. } if similar.is_empty() => {
                Some("`mcparley plan` shows every configured server".to_owned())
            }
            Self::NotFound { similar, .. } => Some(format!("did you mean `{}`?", similar.join("`, `"))),
            Self::Ambiguous { name, scopes } => {
                let name = shell_word(name);
                let command = |scope: &WriteScope| format!("`mcparley remove {name} -s {}`", scope.as_str());
                Some(format!("run {}", scopes.iter().map(command).collect::<Vec<_>>().join(" or ")))
            }
            Self::NotAProjectServer { name } => {
                let name = shell_word(name);
                Some(format!("`mcparley enable {name}` and `mcparley disable {name}` switch it on and off"))
            }
            Self::FromFolder { .. } => {
                Some("leave `--scope user` out, then look at it with `mcparley trust`".to_owned())
            }
            Self::OtherDefinition { name, .. } => {
                Some(format!("look again: `mcparley get {}`", shell_word(name)))
            }
            Self::Unusable { name, .. } => {
                Some(format!("`mcparley get {}` shows what is wrong", shell_word(name)))
            }
            Self::NoSuchHook { .. } => Some("`mcparley hooks list` shows every hook".to_owned()),
            Self::NotAProjectHook { .. } => Some("edit the file that declares it".to_owned()),
            Self::Rule(error) => error.hint(),
            Self::NoSuchRule { elsewhere: Some(origin), .. } => Some(format!("it is in {origin}")),
            Self::NoSuchRule { elsewhere: None, .. } => {
                Some("`mcparley permissions list` shows every rule and its file".to_owned())
            }
            Self::TooManyBound => Some("remove some with `mcparley permissions remove RULE`".to_owned()),
            Self::NoSuchTool { server, .. } => {
                Some(format!("`mcparley tools {}` shows what it offers", shell_word(server)))
            }
            Self::Setup(error) => error.hint(),
            Self::NothingDone { .. } => None,
        }
    }
}

fn blocked_hint(block: &BlockReason) -> Option<String> {
    match block {
        BlockReason::Policy(violation @ PolicyViolation::Unpinned { .. }) => violation.hint(),
        BlockReason::ManagedOnly { .. }
        | BlockReason::ManagedBroken { .. }
        | BlockReason::Strict
        | BlockReason::Policy(_)
        | BlockReason::Alias { .. } => {
            Some("ask the machine's administrator, or choose a server that is allowed".to_owned())
        }
    }
}
