//! The words that options take.

use clap::ValueEnum;

/// A scope to write servers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScopeArg {
    /// For you, in this project
    Local,
    /// For you, everywhere
    User,
    /// For everyone who works on the project
    Project,
}

/// A scope to write choices to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OwnScopeArg {
    /// For you, in this project
    Local,
    /// For you, everywhere
    User,
}

/// A file of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FileArg {
    /// `~/.claude.json`
    ClaudeJson,
    /// `~/.claude/settings.json`, or `.claude/settings.local.json` of the project
    Settings,
}

/// A group of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SettingSourceArg {
    /// Your files
    User,
    /// The repository's files
    Project,
    /// Your files for this project
    Local,
}

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShellArg {
    /// Bash
    Bash,
    /// Elvish
    Elvish,
    /// Fish
    Fish,
    /// `PowerShell`
    Powershell,
    /// Zsh
    Zsh,
}
