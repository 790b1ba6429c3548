//! Tables for the directory rules.

use super::{ClaudeFiles, Directories};
use std::path::{Path, PathBuf};

fn directories(variables: &[(&str, &str)]) -> Directories {
    Directories::for_home(Path::new("/home/ada"), |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn directories_default_to_home_without_variables() {
    let expected = Directories {
        config: PathBuf::from("/home/ada/.config/mcparley"),
        state: PathBuf::from("/home/ada/.local/state/mcparley"),
        cache: PathBuf::from("/home/ada/.cache/mcparley"),
        data: PathBuf::from("/home/ada/.local/share/mcparley"),
        runtime: None,
    };
    assert_eq!(directories(&[]), expected);
}

#[test]
fn absolute_variables_win_over_home() {
    let expected = Directories {
        config: PathBuf::from("/c/mcparley"),
        state: PathBuf::from("/s/mcparley"),
        cache: PathBuf::from("/k/mcparley"),
        data: PathBuf::from("/d/mcparley"),
        runtime: Some(PathBuf::from("/run/user/7/mcparley")),
    };
    let set = [
        ("XDG_CONFIG_HOME", "/c"),
        ("XDG_STATE_HOME", "/s"),
        ("XDG_CACHE_HOME", "/k"),
        ("XDG_DATA_HOME", "/d"),
        ("XDG_RUNTIME_DIR", "/run/user/7"),
    ];
    assert_eq!(directories(&set), expected);
}

#[test]
fn empty_and_relative_variables_count_as_unset() {
    let set = [
        ("XDG_CONFIG_HOME", ""),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "./cache"),
        ("XDG_DATA_HOME", "~/data"),
        ("XDG_RUNTIME_DIR", "run"),
    ];
    assert_eq!(directories(&set), directories(&[]));
}

#[test]
fn claude_files_move_together_with_their_variable() {
    let table = [
        (None, "/home/ada/.claude", "/home/ada/.claude.json"),
        (Some(""), "/home/ada/.claude", "/home/ada/.claude.json"),
        (Some("/x/claude"), "/x/claude", "/x/claude/.claude.json"),
    ];
    for (variable, dir, json) in table {
        let files = ClaudeFiles::for_home(Path::new("/home/ada"), variable.map(Path::new));
        let expected = ClaudeFiles { dir: PathBuf::from(dir), json: PathBuf::from(json) };
        assert_eq!(files, expected, "CLAUDE_CONFIG_DIR={variable:?}");
    }
}
