//! Compares a command pattern with what a command line comes down to.
//!
//! A denial holds for every way to write the denied program: another path to it, a link, `env` or a shell before it.
//! A permission holds only for what the pattern plainly says, because the words of an entry are somebody else's.

use crate::command_line::{Step, UnpinnedStep, program_name, unfold};
use crate::config::Stdio;
use crate::glob::Glob;
use crate::program::{FoundProgram, ProgramFinder, steps_of};

/// A command line with everything it would start, and every path of each program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedCommand {
    /// The outermost first.
    programs: Vec<ResolvedProgram>,
    /// The steps that would fetch code of no certain version.
    unpinned: Vec<UnpinnedStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ResolvedProgram {
    argv: Vec<String>,
    /// The program as it is written and cleaned, and where it is.
    paths: Vec<String>,
    is_of_project: bool,
}

impl ResolvedCommand {
    /// Resolves what `stdio` would start; `denied` are paths of a policy, which may be links themselves.
    #[must_use]
    pub fn of(stdio: &Stdio, finder: &dyn ProgramFinder, denied: &[&str]) -> Self {
        let resolve = |step| match step {
            Step::Program(argv) => {
                let found = argv.first().and_then(|program| finder.find(program, stdio));
                let links = denied.iter().copied().filter(|path| is_same_file(path, found.as_ref(), finder));
                Some(ResolvedProgram::new(argv, found.as_ref(), links))
            }
            Step::Package(_) | Step::DownloadedScript => None,
        };
        let steps = steps_of(stdio);
        let unpinned = UnpinnedStep::find(steps.iter().cloned()).collect();
        Self { programs: steps.into_iter().filter_map(resolve).collect(), unpinned }
    }

    /// The same where no file system is at hand.
    #[must_use]
    pub fn as_written(argv: &[&str]) -> Self {
        let resolve = |step| match step {
            Step::Program(argv) => Some(ResolvedProgram::new(argv, None, std::iter::empty())),
            Step::Package(_) | Step::DownloadedScript => None,
        };
        let steps = unfold(argv);
        let unpinned = UnpinnedStep::find(steps.iter().cloned()).collect();
        Self { programs: steps.into_iter().filter_map(resolve).collect(), unpinned }
    }

    /// The first step that would fetch code of no certain version.
    pub(super) fn find_unpinned(&self) -> Option<&UnpinnedStep> {
        self.unpinned.first()
    }

    /// Whether anything that would be started fits the pattern.
    pub(super) fn is_denied_by(&self, pattern: &[Glob]) -> bool {
        let Some((wanted, arguments)) = pattern.split_first() else { return false };
        self.programs.iter().any(|program| {
            let is_program = program.paths.iter().any(|path| {
                wanted.matches(path) || !wanted.as_str().contains('/') && wanted.matches(program_name(path))
            });
            is_program && fits(arguments, &program.argv, Glob::matches)
        })
    }

    /// Whether the pattern permits the command line as it is written.
    pub(super) fn is_allowed_by(&self, pattern: &[Glob]) -> bool {
        let (Some(program), Some((wanted, arguments))) = (self.programs.first(), pattern.split_first())
        else {
            return false;
        };
        program.is_allowed_by(wanted) && fits(arguments, &program.argv, fits_plainly)
    }
}

impl ResolvedProgram {
    fn new<'p>(
        argv: Vec<String>,
        found: Option<&FoundProgram>,
        links: impl Iterator<Item = &'p str>,
    ) -> Self {
        let written = argv.first().cloned().unwrap_or_default();
        let is_relative = written.contains('/') && !written.starts_with('/');
        let mut paths = vec![clean(&written)];
        paths.extend(found.into_iter().flat_map(|found| [found.located.clone(), found.canonical.clone()]));
        paths.extend(links.map(str::to_owned));
        paths.push(written);
        paths.dedup();
        Self { argv, paths, is_of_project: found.map_or(is_relative, |found| found.is_of_project) }
    }

    /// A name means the user's own program of that name, a path means that path, wherever it comes from.
    fn is_allowed_by(&self, wanted: &Glob) -> bool {
        let Some(written) = self.argv.first() else { return false };
        if !wanted.as_str().contains('/') {
            return !self.is_of_project && fits_plainly(wanted, written);
        }
        if wanted.is_literal() && !wanted.as_str().starts_with('/') {
            return wanted.matches(written);
        }
        let is_plain = |path: &&String| path.starts_with('/') && !has_parent_step(path);
        self.paths.iter().filter(is_plain).any(|path| fits_plainly(wanted, path))
    }
}

/// As many arguments as the pattern has, each fitting its own: a star never swallows another argument.
fn fits(pattern: &[Glob], argv: &[String], matches: impl Fn(&Glob, &str) -> bool) -> bool {
    let arguments = argv.get(1..).unwrap_or_default();
    pattern.len() == arguments.len() && pattern.iter().zip(arguments).all(|(glob, text)| matches(glob, text))
}

/// Whether the text fits without a star that stands for a step up, for white space or for an option.
fn fits_plainly(pattern: &Glob, text: &str) -> bool {
    let steps = |text: &str| text.matches("/..").count() + usize::from(text.starts_with(".."));
    let spaces = |text: &str| text.chars().filter(|character| character.is_whitespace()).count();
    // Every character of the pattern besides stars is in the text, so what is in the text more often is in a star.
    let is_plain = steps(text) == steps(pattern.as_str()) && spaces(text) == spaces(pattern.as_str());
    let is_option = text.starts_with('-') && pattern.as_str().starts_with('*');
    pattern.matches(text) && (pattern.is_literal() || is_plain && !is_option)
}

fn has_parent_step(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// The path without empty parts and `.`, and with `..` taken back.
///
/// Where a folder is a link `..` leads elsewhere; the finder's path then says where.
fn clean(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("/{}", parts.join("/"))
}

fn is_same_file(path: &str, found: Option<&FoundProgram>, finder: &dyn ProgramFinder) -> bool {
    found.is_some_and(|found| finder.canonical(path).as_ref() == Some(&found.canonical))
}
