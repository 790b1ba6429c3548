//! The manual pages: one for the program, one for each command.

use std::io;
use std::path::Path;

use clap::{Arg, Command};
use clap_mangen::Man;
use mcparley_arguments::root_command;

use super::commands::is_alias;
use super::{GeneratedPage, MANUAL, MARK};

/// The definition of the apostrophe, which every rendered section begins with.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// All manual pages.
pub(super) fn render_pages() -> io::Result<Vec<GeneratedPage>> {
    let mut root = root_command();
    root.build();
    let mut pages = Vec::new();
    collect_pages(&root, &without_aliases(&root, &root), &mut pages)?;
    Ok(pages)
}

fn collect_pages(root: &Command, command: &Command, pages: &mut Vec<GeneratedPage>) -> io::Result<()> {
    pages.push(render_page(root, command)?);
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect_pages(root, sub, pages)?;
    }
    Ok(())
}

fn render_page(root: &Command, command: &Command) -> io::Result<GeneratedPage> {
    let version = root.get_version().unwrap_or_default();
    let is_root = command.get_name() == root.get_name();
    // Global options are on the page of the program only.
    let page = command.clone().mut_args(|arg| if is_root { arg } else { hide_global(arg) });
    // Without a date, which would make the page differ from day to day.
    let man = Man::new(page).source(format!("{} {version}", root.get_name()));
    let mut text = format!(".\\\" {MARK}\n").into_bytes();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    text.extend(render_synopsis(command).into_bytes());
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    text.extend(render_after_help(&after.map(ToString::to_string).unwrap_or_default()).into_bytes());
    if !is_root {
        text.extend(b".SH \"SEE ALSO\"\n\\fBmcparley\\fR(1) for the options that every command takes.\n");
    }
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    // Each section is rendered with the preamble of a whole page, which one of them is enough for.
    let (title, sections) = text.split_once(".SH NAME").unwrap_or((&text, ""));
    let text = format!("{}.SH NAME{}", title.replacen(PREAMBLE, "", 1), sections.replace(PREAMBLE, ""));
    Ok(GeneratedPage { path: Path::new(MANUAL).join(man.get_filename()), text })
}

fn hide_global(arg: Arg) -> Arg {
    if arg.is_global_set() { arg.hide(true) } else { arg }
}

/// The usage as help shows it: that of a command with several forms cannot be made from its arguments.
fn render_synopsis(command: &Command) -> String {
    let usage = command.clone().term_width(0).render_usage().to_string();
    let lines = usage.trim_start_matches("Usage: ").lines().map(|line| escape_line(line.trim()));
    format!(".SH SYNOPSIS\n.nf\n{}\n.fi\n", lines.collect::<Vec<_>>().join("\n"))
}

/// The text below the options, such as examples: a title with indented lines below it becomes a section of its
/// own, and the paragraphs become the section of notes.
fn render_after_help(text: &str) -> String {
    let (mut sections, mut notes) = (String::new(), String::new());
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        match paragraph.split_once(":\n  ") {
            Some((title, lines)) => {
                let lines: Vec<String> = format!("  {lines}").lines().map(escape_line).collect();
                let title = title.to_uppercase();
                sections.push_str(&format!(".SH \"{title}\"\n.nf\n{}\n.fi\n", lines.join("\n")));
            }
            None => {
                let lines: Vec<String> = paragraph.lines().map(escape_line).collect();
                notes.push_str(&format!(".PP\n{}\n", lines.join("\n")));
            }
        }
    }
    if notes.is_empty() { sections } else { format!("{sections}.SH NOTES\n{notes}") }
}

/// A line of text for the formatter, which gives backslashes, dashes, quotes and leading dots a meaning.
fn escape_line(line: &str) -> String {
    let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if escaped.starts_with('.') { format!("\\&{escaped}") } else { escaped }
}

/// Hides commands that only repeat one of `root`, so that no page refers to a page that is not rendered.
fn without_aliases(root: &Command, command: &Command) -> Command {
    let parent = command.clone();
    command.clone().mut_subcommands(|sub| {
        let is_alias = is_alias(root, &parent, &sub);
        without_aliases(root, &sub).hide(is_alias)
    })
}
