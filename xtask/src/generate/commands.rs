//! The command reference, from the command tree that also parses and helps.

use clap::{Arg, Command};
use mcparley_cli::args;

use super::Page;
use super::markdown::{code, table};

/// Lines of usage are never folded, whatever terminal the chore runs in.
const WIDTH: usize = 0;

/// The page of all commands.
pub(super) fn page() -> Page {
    let mut root = args::command().term_width(WIDTH);
    root.build();
    let mut body = format!("# Commands\n\n{}\n", global(&root));
    section(&root, &root, &mut body);
    Page::markdown("commands.md", &body)
}

/// Whether `root` offers the same command without the word before it; then it is described there only.
pub(super) fn is_alias(root: &Command, parent: &Command, command: &Command) -> bool {
    parent.get_name() != root.get_name()
        && root
            .find_subcommand(command.get_name())
            .is_some_and(|direct| direct.get_about() == command.get_about())
}

fn global(root: &Command) -> String {
    let arguments = root.get_arguments().filter(|arg| is_everywhere(arg));
    format!("## Global options\n\nEvery command takes these.\n\n{}", options(arguments))
}

fn section(root: &Command, command: &Command, body: &mut String) {
    let title = command.get_bin_name().unwrap_or_else(|| command.get_name());
    body.push_str(&format!("## `{title}`\n\n"));
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        body.push_str(&format!("{}\n\n", sentence(&about.to_string())));
    }
    let usage = command.clone().render_usage().to_string();
    body.push_str(&format!("```text\n{}\n```\n\n", usage.trim_start_matches("Usage: ").trim()));
    let own = || command.get_arguments().filter(|arg| !arg.is_hide_set() && !is_everywhere(arg));
    if own().any(Arg::is_positional) {
        body.push_str(&format!("{}\n", positionals(own().filter(|arg| arg.is_positional()))));
    }
    if own().any(|arg| !arg.is_positional()) {
        body.push_str(&format!("{}\n", options(own().filter(|arg| !arg.is_positional()))));
    }
    let visible = || command.get_subcommands().filter(|sub| !sub.is_hide_set());
    if visible().next().is_some() {
        body.push_str(&format!("{}\n", subcommands(root, command)));
    }
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        body.push_str(&format!("```text\n{}\n```\n\n", after.to_string().trim_end()));
    }
    for sub in visible().filter(|sub| !is_alias(root, command, sub)) {
        section(root, sub, body);
    }
}

fn subcommands(root: &Command, command: &Command) -> String {
    let rows = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| {
        let described = match root.find_subcommand(sub.get_name()) {
            Some(direct) if is_alias(root, command, sub) => direct,
            Some(_) | None => sub,
        };
        let place = described.get_bin_name().unwrap_or_else(|| described.get_name()).replace(' ', "-");
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        [format!("[`{}`](#{place})", sub.get_name()), about]
    });
    table(["command", "does"], rows)
}

fn positionals<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    table(["argument", "meaning"], arguments.map(|arg| [code(&arg.to_string()), meaning(arg)]))
}

fn options<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    table(["option", "meaning"], arguments.map(|arg| [code(&spelling(arg)), meaning(arg)]))
}

/// `-s, --scope <SCOPE>`
fn spelling(arg: &Arg) -> String {
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, {arg}"),
        (Some(_) | None, _) => arg.to_string(),
    }
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut parts = vec![sentence(&help)];
    let takes_values = arg.get_action().takes_values();
    let words: Vec<_> = arg.get_possible_values().into_iter().filter(|word| !word.is_hide_set()).collect();
    if takes_values && !words.is_empty() {
        let word = |word: &clap::builder::PossibleValue| match word.get_help() {
            Some(help) => format!("{} ({help})", code(word.get_name())),
            None => code(word.get_name()),
        };
        parts.push(format!("One of {}.", words.iter().map(word).collect::<Vec<_>>().join(", ")));
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_values && !defaults.is_empty() {
        parts.push(format!("Default: {}.", code(&defaults.join(","))));
    }
    if let Some(variable) = arg.get_env() {
        parts.push(format!("Variable: {}.", code(&variable.to_string_lossy())));
    }
    parts.join(" ")
}

/// A first line has no full stop in help; on a page other sentences follow it.
fn sentence(help: &str) -> String {
    let (first, rest) = help.split_once("\n\n").unwrap_or((help, ""));
    let stop = if first.ends_with(['.', ':']) || first.is_empty() { "" } else { "." };
    let joined = format!("{first}{stop}\n\n{rest}");
    joined.trim_end().to_owned()
}

/// Options that mean the same everywhere; `--help` is one although clap gives each command its own.
fn is_everywhere(arg: &Arg) -> bool {
    arg.is_global_set() || arg.get_id() == "help"
}
