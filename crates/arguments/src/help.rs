//! Help as a person reads it: a short first screen grouped by purpose, one page per command, and the global
//! options on a page of their own.
//!
//! The pages of commands are those of clap, with three changes: global options are left out, paragraphs are
//! wrapped to the terminal, and a last line names the page of the global options.

use std::fmt::Write as _;

use clap::{Args, Command, CommandFactory};
use mcparley::model::similar::similar_names;

use super::Cli;

/// The widest line of a page, however wide the terminal is.
const MAX_WIDTH: usize = 100;

/// The word after `help` that names the page of the global options.
const OPTIONS_PAGE: &str = "options";

/// Show help for a command
///
/// Without a command, shows the first screen: the commands grouped by purpose. `mcparley help options` shows
/// the global options, which every command takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley help
  mcparley help call
  mcparley help auth idp
  mcparley help options")]
pub struct HelpArgs {
    /// The command, or `options`
    #[arg(value_name = "COMMAND")]
    pub words: Vec<String>,
}

/// A rendered page of help, with terminal styles.
#[derive(Debug)]
pub struct HelpPage(pub String);

/// The words after `help` name no command.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no command `{words}`")]
pub struct HelpPageError {
    /// The words up to the unknown one.
    pub words: String,
    /// Commands of similar names.
    pub similar: Vec<String>,
}

impl HelpPage {
    /// Renders the page that the words after `help` name.
    ///
    /// # Errors
    /// No command has this name.
    pub fn from_words(words: &[String]) -> Result<Self, HelpPageError> {
        if words == [OPTIONS_PAGE] {
            return Ok(Self(render_options_page()));
        }
        let root = help_command();
        let mut command = &root;
        for (index, word) in words.iter().enumerate() {
            let Some(inner) = command.find_subcommand(word) else {
                let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
                let similar = similar_names(word, visible.map(Command::get_name));
                let words = words.iter().take(index + 1).cloned().collect::<Vec<_>>().join(" ");
                return Err(HelpPageError { words, similar });
            };
            command = inner;
        }
        let line = ["mcparley"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
        // Clap reports help as an error.
        let page = root.clone().try_get_matches_from(line).err();
        Ok(Self(page.map(|page| page.render().ansi().to_string()).unwrap_or_default()))
    }
}

/// The command tree for help and error messages; [`super::root_command`] is the one for pages and completion.
#[must_use]
pub fn help_command() -> Command {
    let root = Cli::command();
    let screen = render_first_screen(&root);
    let root = root.mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg });
    root.override_help(screen).max_term_width(MAX_WIDTH).mut_subcommands(prepare_page)
}

/// Wraps the paragraphs below the options and adds the line about global options.
fn prepare_page(command: Command) -> Command {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let after =
        format!("{}\n\nGlobal options, such as --json: mcparley help options", join_paragraphs(&after));
    command.after_help(after.trim_start().to_owned()).max_term_width(MAX_WIDTH).mut_subcommands(prepare_page)
}

/// Joins the lines of each paragraph, so that clap wraps them to the terminal. Indented lines, such as
/// examples, stay as they are.
fn join_paragraphs(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut is_open = false;
    for line in text.lines() {
        let is_plain = !line.is_empty() && !line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if is_open && is_plain { ' ' } else { '\n' });
        }
        joined.push_str(line);
        is_open = is_plain;
    }
    joined
}

fn render_options_page() -> String {
    let global =
        Cli::command().get_arguments().filter(|arg| arg.is_global_set()).cloned().collect::<Vec<_>>();
    let page = Command::new("mcparley").disable_help_flag(true).args(global).max_term_width(MAX_WIDTH);
    let mut page =
        page.help_template("Every command takes these options, before or after its name.\n\n{all-args}");
    page.render_long_help().ansi().to_string()
}

/// A group of commands on the first screen.
struct CommandGroup {
    title: &'static str,
    /// The usage of each important command, and its purpose.
    main: &'static [(&'static str, &'static str)],
    /// Further commands, by name only.
    more: &'static [&'static str],
}

const GROUPS: [CommandGroup; 6] = [
    CommandGroup {
        title: "Try",
        main: &[
            ("tools [SERVER [TOOL]]", "List tools, or show one"),
            ("call SERVER.TOOL [ARGS]", "Call a tool"),
            ("search WORDS", "Find a tool"),
            ("ask TEXT", "Let a model answer, with the tools"),
        ],
        more: &["resources", "read", "prompts", "prompt", "skills", "tasks"],
    },
    CommandGroup {
        title: "Configure",
        main: &[
            ("add NAME COMMAND|URL", "Add a server"),
            ("list", "Check that every server works"),
            ("plan", "Show which servers may run, and why"),
        ],
        more: &["remove", "get", "enable", "disable", "import", "add-json", "agents"],
    },
    CommandGroup {
        title: "Trust",
        main: &[
            ("trust [DIR]", "Review what a project brings"),
            ("permissions …", "Allow tools, ask about them, deny them"),
        ],
        more: &["approve", "reject", "reset-project-choices", "pending", "hooks"],
    },
    CommandGroup {
        title: "Sign in",
        main: &[
            ("login SERVER", "Sign in to a server"),
            ("auth …", "Show sign-ins; set an identity provider"),
        ],
        more: &["logout"],
    },
    CommandGroup {
        title: "Serve",
        main: &[
            ("serve", "Offer all servers to an agent as one"),
            ("connect CLIENT", "Put that into Claude Code, Cursor, …"),
            ("daemon …", "Run servers once for all clients"),
            ("ui", "Open the web page of the servers"),
        ],
        more: &[],
    },
    CommandGroup {
        title: "Diagnose",
        main: &[
            ("doctor [SERVER]", "Find out why a server fails"),
            ("logs [-f] [SERVER]", "Show the logs of servers"),
            ("budget", "Show the tokens that tools take"),
        ],
        more: &["state", "reconnect", "wait-ready", "completions"],
    },
];

/// The examples on the first screen and on the page of the program.
pub(super) const EXAMPLES: &str = "\
Examples:
  mcparley tools -- npx -y @modelcontextprotocol/server-everything
  mcparley add fs -- npx -y @modelcontextprotocol/server-filesystem .
  mcparley call fs.read_text_file path=README.md
  mcparley connect claude-code";

/// Renders the first screen, for 80 columns. Commands that no group has follow under `Other`.
fn render_first_screen(root: &Command) -> String {
    let mut screen = "mcparley connects agents and people to MCP servers.\n\n\
                      Usage: mcparley [OPTIONS] COMMAND [ARGUMENTS]…\n\n"
        .to_owned();
    for group in &GROUPS {
        let mut title = group.title;
        for (usage, purpose) in group.main {
            push_line(&mut screen, title, &format!("{usage:<26}{purpose}"));
            title = "";
        }
        if !group.more.is_empty() {
            push_line(&mut screen, title, &group.more.join(" · "));
        }
    }
    let other: Vec<&str> = ungrouped_commands(root).collect();
    if !other.is_empty() {
        push_line(&mut screen, "Other", &other.join(" · "));
    }
    let details = "Run `mcparley` alone for the console, `mcparley help COMMAND` for details, and\n\
                   `mcparley help options` for the options that every command takes.";
    screen + &format!("\n{EXAMPLES}\n\n{details}\n")
}

fn push_line(screen: &mut String, title: &str, text: &str) {
    // Writing to a `String` cannot fail.
    writeln!(screen, "{title:<11}{text}").unwrap_or_default();
}

fn ungrouped_commands(root: &Command) -> impl Iterator<Item = &str> {
    let is_grouped = |name: &str| {
        let is_main = |(usage, _): &(&str, &str)| usage.split(' ').next() == Some(name);
        GROUPS.iter().any(|group| group.more.contains(&name) || group.main.iter().any(is_main))
    };
    let visible = root.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name);
    // `help` and the prefix `mcp` are no purposes of their own.
    visible.filter(move |name| !is_grouped(name) && !matches!(*name, "help" | "mcp"))
}
