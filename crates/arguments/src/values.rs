//! Values of enumerated options: scopes, files, setting sources, shells.

use clap::ValueEnum;
use mcparley::config::change::{FileChoice, WriteScope};

/// A scope that servers are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScopeArg {
    /// For you, in this project
    Local,
    /// For you, everywhere
    User,
    /// For everyone in the project
    Project,
}

/// A scope that the user's own choices are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OwnScopeArg {
    /// For you, in this project
    Local,
    /// For you, everywhere
    User,
}

/// A configuration file of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FileArg {
    /// `~/.claude.json`
    ClaudeJson,
    /// `~/.claude/settings.json`, or `.claude/settings.local.json` of the project
    Settings,
}

/// A source of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SettingSourceArg {
    /// Your files
    User,
    /// The repository's files
    Project,
    /// Your files for this project
    Local,
}

/// A shell that a completion script exists for.
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

impl From<ScopeArg> for WriteScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Local => Self::Local,
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
        }
    }
}

impl From<OwnScopeArg> for WriteScope {
    fn from(scope: OwnScopeArg) -> Self {
        match scope {
            OwnScopeArg::Local => Self::Local,
            OwnScopeArg::User => Self::User,
        }
    }
}

impl From<FileArg> for FileChoice {
    fn from(file: FileArg) -> Self {
        match file {
            FileArg::ClaudeJson => Self::ClaudeJson,
            FileArg::Settings => Self::Settings,
        }
    }
}
