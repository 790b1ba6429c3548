//! The manual pages: one for the program, one for each command.

use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use mcparley_cli::args;

use super::commands::is_alias;
use super::{GeneratedPage, MANUAL, MARK};

/// All manual pages.
pub(super) fn render_pages() -> io::Result<Vec<GeneratedPage>> {
    let mut root = args::root_command();
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
    // Without a date, which would make the page differ from day to day.
    let man = Man::new(command.clone()).source(format!("{} {version}", root.get_name()));
    let mut text = format!(".\\\" {MARK}\n").into_bytes();
    man.render(&mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    Ok(GeneratedPage { path: Path::new(MANUAL).join(man.get_filename()), text })
}

/// Hides commands that only repeat one of `root`, so that no page refers to a page that is not rendered.
fn without_aliases(root: &Command, command: &Command) -> Command {
    let parent = command.clone();
    command.clone().mut_subcommands(|sub| {
        let is_alias = is_alias(root, &parent, &sub);
        without_aliases(root, &sub).hide(is_alias)
    })
}
