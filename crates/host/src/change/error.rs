//! Why a change was not made.

use std::path::PathBuf;

use mcparley_model::config::ConfigError;
use mcparley_model::edit::EditError;
use mcparley_model::explain::Explain;
use mcparley_model::limits::BOUND_RULES;
use mcparley_model::name::{NameError, ServerName, normalise_server};
use mcparley_model::permission::RuleError;
use mcparley_model::plan::Block;
use mcparley_model::policy::Violation;
use mcparley_model::scope::Origin;
use mcparley_model::text::{display, shell_word};
use mcparley_platform::file::{ReadError, UpdateError, WriteError};

use super::WriteScope;

/// A change that was not made; the files are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The entry cannot be used.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The file does not let itself be edited.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The file cannot be read.
    #[error(transparent)]
    Read(ReadError),
    /// The file cannot be written.
    #[error(transparent)]
    Write(WriteError),
    /// The name is taken in this scope.
    #[error("`{name}` already exists in {scope} scope ({})", file.display())]
    Exists {
        /// The name.
        name: String,
        /// The scope.
        scope: &'static str,
        /// The file it stands in.
        file: PathBuf,
    },
    /// A policy forbids it.
    #[error("`{name}` is not allowed: {block}")]
    Blocked {
        /// The server.
        name: String,
        /// The rule.
        block: Box<Block>,
    },
    /// Its command is mcparley.
    #[error("`{name}` would start mcparley itself")]
    StartsItself {
        /// The server.
        name: String,
    },
    /// The entry stands in no file that the user may edit.
    #[error("the entry of `{name}` stands in no file of yours")]
    NotEditable {
        /// The server.
        name: String,
    },
    /// There is no such server.
    #[error("there is no server named `{name}`{}", in_scope(*scope))]
    NotFound {
        /// The name.
        name: String,
        /// The scope that was looked at; absent means all.
        scope: Option<WriteScope>,
        /// Names that look like it.
        similar: Vec<String>,
    },
    /// The name stands in several scopes.
    #[error("`{name}` stands in several scopes: {}", words(scopes))]
    Ambiguous {
        /// The name.
        name: String,
        /// The scopes.
        scopes: Vec<WriteScope>,
    },
    /// Only project servers are approved or rejected.
    #[error("`{name}` does not come from the project; it needs no approval")]
    NotAProjectServer {
        /// The server.
        name: String,
    },
    /// What comes with a folder cannot be written to where it would count everywhere.
    #[error("`{name}` comes with this folder and is not approved; it cannot become a server for everywhere")]
    FromFolder {
        /// The server.
        name: String,
    },
    /// It is not what the person looked at.
    #[error("`{name}` is not what was looked at: its definition is {actual}")]
    OtherDefinition {
        /// The server.
        name: String,
        /// What it is now.
        actual: String,
    },
    /// It is invalid, so there is nothing to approve.
    #[error("`{name}` cannot be approved as it is written: {reason}")]
    Unusable {
        /// The server.
        name: String,
        /// Why.
        reason: String,
    },
    /// There is no such hook.
    #[error("there is no hook `{definition}`, or more than one begins so")]
    NoSuchHook {
        /// What was asked for.
        definition: String,
    },
    /// Only what a project brings is approved or rejected.
    #[error("the hook `{hook}` does not come from the project; it needs no approval")]
    NotAProjectHook {
        /// Its command, as people may see it.
        hook: String,
    },
    /// The text is no rule.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The rule stands in no file that may be edited.
    #[error("no rule `{}` stands in a file that can be edited{}", display(rule), in_scope(*scope))]
    NoSuchRule {
        /// The rule.
        rule: String,
        /// The scope that was looked at; absent means all.
        scope: Option<WriteScope>,
        /// Where it stands, if that is a file of somebody else.
        elsewhere: Option<Origin>,
    },
    /// There are too many rules that are bound to a definition.
    #[error("there are {BOUND_RULES} rules of \"always allow\" already")]
    TooManyBound,
    /// The server does not offer the tool.
    #[error("server `{}` offers no tool `{}`", display(server), display(tool))]
    NoSuchTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The change ended without a result.
    #[error("nothing was done to {}", file.display())]
    NothingDone {
        /// The file.
        file: PathBuf,
    },
}

fn in_scope(scope: Option<WriteScope>) -> String {
    scope.map(|scope| format!(" in {} scope", scope.as_str())).unwrap_or_default()
}

fn words(scopes: &[WriteScope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ")
}

impl From<UpdateError<EditError>> for ChangeError {
    fn from(error: UpdateError<EditError>) -> Self {
        match error {
            UpdateError::Read(error) => Self::Read(error),
            UpdateError::Write(error) => Self::Write(error),
            UpdateError::Refused(error) => Self::Edit(error),
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
            Self::Blocked { block, .. } => match block.as_ref() {
                Block::Policy(violation @ Violation::Unpinned { .. }) => violation.hint(),
                Block::ManagedOnly { .. }
                | Block::ManagedBroken { .. }
                | Block::Strict
                | Block::Policy(_)
                | Block::Alias { .. } => Some("ask the machine's administrator, or choose a server that is allowed".to_owned()),
            },
            Self::StartsItself { .. } => Some(
                "mcparley has its own servers already; to offer them to another program, add it there: `claude mcp add mcparley -- mcparley serve`"
                    .to_owned(),
            ),
            Self::NotEditable { name } => {
                let server = normalise_server(&ServerName::new(name));
                Some(format!("deny its tools instead: `mcparley permissions deny mcp__{server}__TOOL`"))
            }
            Self::NotFound { similar, .. } if similar.is_empty() => {
                Some("`mcparley plan` shows every configured server".to_owned())
            }
            Self::NotFound { similar, .. } => Some(format!("did you mean `{}`?", similar.join("`, `"))),
            Self::Ambiguous { name, scopes } => {
                let name = shell_word(name);
                let command = |scope: &WriteScope| format!("`mcparley remove {name} -s {}`", scope.as_str());
                Some(format!("say which: {}", scopes.iter().map(command).collect::<Vec<_>>().join(" or ")))
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
            Self::NotAProjectHook { .. } => Some("change the file it stands in".to_owned()),
            Self::Rule(error) => error.hint(),
            Self::NoSuchRule { elsewhere: Some(origin), .. } => Some(format!("it stands in {origin}")),
            Self::NoSuchRule { elsewhere: None, .. } => {
                Some("`mcparley permissions list` shows every rule and where it stands".to_owned())
            }
            Self::TooManyBound => Some("remove some with `mcparley permissions remove RULE`".to_owned()),
            Self::NoSuchTool { server, .. } => {
                Some(format!("`mcparley tools {}` shows what it offers", shell_word(server)))
            }
            Self::NothingDone { .. } => None,
        }
    }
}
