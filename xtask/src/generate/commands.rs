//! The command reference, rendered from the command tree that also parses and prints help.

use clap::{Arg, Command};
use mcparley_arguments::root_command;

use super::GeneratedPage;
use super::markdown::{render_code, render_table};

/// The line width of usage lines: zero never wraps them, whatever the terminal.
const WIDTH: usize = 0;

/// The page of all commands.
pub(super) fn render_page() -> GeneratedPage {
    let mut root = root_command().term_width(WIDTH);
    root.build();
    let mut body = format!("# Commands\n\n{}\n", render_global_options(&root));
    render_section(&root, &root, &mut body);
    GeneratedPage::markdown("commands.md", &body)
}

/// Whether `root` has the same command without the word before it; then it is documented only there.
pub(super) fn is_alias(root: &Command, parent: &Command, command: &Command) -> bool {
    parent.get_name() != root.get_name()
        && root
            .find_subcommand(command.get_name())
            .is_some_and(|direct| direct.get_about() == command.get_about())
}

fn render_global_options(root: &Command) -> String {
    let arguments = root.get_arguments().filter(|arg| is_everywhere(arg));
    format!("## Global options\n\nEvery command takes these.\n\n{}", render_options(arguments))
}

fn render_section(root: &Command, command: &Command, body: &mut String) {
    let title = command.get_bin_name().unwrap_or_else(|| command.get_name());
    body.push_str(&format!("## `{title}`\n\n"));
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        body.push_str(&format!("{}\n\n", to_sentence(&about.to_string())));
    }
    let usage = command.clone().render_usage().to_string();
    body.push_str(&format!("```text\n{}\n```\n\n", usage.trim_start_matches("Usage: ").trim()));
    let own = || command.get_arguments().filter(|arg| !arg.is_hide_set() && !is_everywhere(arg));
    if own().any(Arg::is_positional) {
        body.push_str(&format!("{}\n", render_positionals(own().filter(|arg| arg.is_positional()))));
    }
    if own().any(|arg| !arg.is_positional()) {
        body.push_str(&format!("{}\n", render_options(own().filter(|arg| !arg.is_positional()))));
    }
    let visible = || command.get_subcommands().filter(|sub| !sub.is_hide_set());
    if visible().next().is_some() {
        body.push_str(&format!("{}\n", render_subcommands(root, command)));
    }
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        body.push_str(&format!("```text\n{}\n```\n\n", after.to_string().trim_end()));
    }
    for sub in visible().filter(|sub| !is_alias(root, command, sub)) {
        render_section(root, sub, body);
    }
}

fn render_subcommands(root: &Command, command: &Command) -> String {
    let rows = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| {
        let described = match root.find_subcommand(sub.get_name()) {
            Some(direct) if is_alias(root, command, sub) => direct,
            Some(_) | None => sub,
        };
        let place = described.get_bin_name().unwrap_or_else(|| described.get_name()).replace(' ', "-");
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        [format!("[`{}`](#{place})", sub.get_name()), about]
    });
    render_table(["command", "does"], rows)
}

fn render_positionals<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    render_table(
        ["argument", "meaning"],
        arguments.map(|arg| [render_code(&arg.to_string()), argument_meaning(arg)]),
    )
}

fn render_options<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    render_table(
        ["option", "meaning"],
        arguments.map(|arg| [render_code(&option_spelling(arg)), argument_meaning(arg)]),
    )
}

/// The spelling of an option, such as `-s, --scope <SCOPE>`.
fn option_spelling(arg: &Arg) -> String {
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, {arg}"),
        (Some(_) | None, _) => arg.to_string(),
    }
}

fn argument_meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut parts = vec![to_sentence(&help)];
    let takes_values = arg.get_action().takes_values();
    let words: Vec<_> = arg.get_possible_values().into_iter().filter(|word| !word.is_hide_set()).collect();
    if takes_values && !words.is_empty() {
        let word = |word: &clap::builder::PossibleValue| match word.get_help() {
            Some(help) => format!("{} ({help})", render_code(word.get_name())),
            None => render_code(word.get_name()),
        };
        parts.push(format!("One of {}.", words.iter().map(word).collect::<Vec<_>>().join(", ")));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_values && !defaults.is_empty() {
        parts.push(format!("Default: {}.", render_code(&defaults.join(","))));
    }
    if let Some(variable) = arg.get_env() {
        parts.push(format!("Variable: {}.", render_code(&variable.to_string_lossy())));
    }
    parts.join(" ")
}

/// Adds a full stop to a first line, which has none in help: on a page further sentences follow.
fn to_sentence(help: &str) -> String {
    let (first, rest) = help.split_once("\n\n").unwrap_or((help, ""));
    let stop = if first.ends_with(['.', ':']) || first.is_empty() { "" } else { "." };
    let joined = format!("{first}{stop}\n\n{rest}");
    joined.trim_end().to_owned()
}

/// Whether an option means the same everywhere; `--help` does, although clap adds it to each command.
fn is_everywhere(arg: &Arg) -> bool {
    arg.is_global_set() || arg.get_id() == "help"
}
