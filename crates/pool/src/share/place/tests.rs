//! The place of a client: which differences between two terminals count.

use super::*;

const BASE: [(&str, &str); 4] =
    [("CLAUDE_PROJECT_DIR", "/p"), ("HOME", "/home/u"), ("PATH", "/usr/bin:/bin"), ("LANG", "C")];

fn launch_in(cwd: &str, changes: &[(&str, &str)]) -> ProgramLaunch {
    let base = BASE.iter().chain(changes);
    ProgramLaunch {
        program: "server".into(),
        args: Vec::new(),
        env: base.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
        cwd: Some(PathBuf::from(cwd)),
    }
}

/// The place where every folder exists except `/missing`.
fn place_in(cwd: &str, changes: &[(&str, &str)]) -> PlaceHash {
    PlaceHash::from_launch(&launch_in(cwd, changes), |folder| !folder.starts_with("/missing"))
}

// G8
#[test]
fn differences_without_meaning_do_not_change_the_place() {
    let base = place_in("/p", &[]);
    for same in [
        &[("TERM", "xterm")][..],
        &[("MCPARLEY_ANCESTRY", "abc,def")],
        &[("SHLVL", "3"), ("OLDPWD", "/x"), ("_", "/usr/bin/mcparley")],
        &[("PATH", "/usr/bin:/bin:/usr/bin")],
        &[("PATH", "/usr/bin/:/bin")],
        &[("PATH", "/usr/bin:/missing/bin:/bin")],
        &[("PATH", "/tmp/x/bin:/usr/bin:/bin:/var/tmp")],
        &[("PATH", "/var/folders/ab/cd/T/bin:/usr/bin:/bin")],
        &[("PATH", "/run/user/1000/fnm_multishells/12_34/bin:/usr/bin:/bin")],
        &[("PATH", "/home/u/.local/state/fnm_multishells/12_34/bin:/usr/bin:/bin")],
        &[("CLAUDE_PROJECT_DIR", "/p/")],
    ] {
        assert_eq!(place_in("/p", same), base, "{same:?}");
    }
    assert_eq!(place_in("/p/", &[]), base, "a trailing slash");
    let scratch = ("TMPDIR", "/scratch/u");
    assert_eq!(
        place_in("/p", &[scratch, ("PATH", "/scratch/u/bin:/usr/bin:/bin")]),
        place_in("/p", &[scratch]),
        "a folder below `TMPDIR` is temporary"
    );
}

// G8
#[test]
fn other_differences_change_the_place() {
    let base = place_in("/p", &[]);
    assert_ne!(place_in("/q", &[]), base);
    for other in [
        &[("CLAUDE_PROJECT_DIR", "/q")][..],
        &[("HOME", "/home/v")],
        &[("LANG", "de")],
        &[("LANG", "")],
        &[("VIRTUAL_ENV", "/p/.venv")],
        &[("TERMINAL", "x")],
        &[("PATH", "/bin:/usr/bin")],
        &[("PATH", "/p/.venv/bin:/usr/bin:/bin")],
        &[("PATH", "/tmpfiles/bin:/usr/bin:/bin")],
        &[("PATH", "")],
        &[("TMPDIR", "/")],
    ] {
        assert_ne!(place_in("/p", other), base, "{other:?}");
    }
    let everything_temporary = [("TMPDIR", "/"), ("PATH", "/opt/bin:/usr/bin:/bin")];
    assert_ne!(
        place_in("/p", &everything_temporary),
        place_in("/p", &[("TMPDIR", "/")]),
        "`/` is not temporary"
    );
}

// G8
#[test]
fn relative_folder_of_the_search_path_is_looked_up_in_the_working_directory() {
    let exists = |folder: &Path| folder == Path::new("/p/bin") || folder.starts_with("/usr");
    let searched = |path| PlaceHash::from_launch(&launch_in("/p", &[("PATH", path)]), exists);
    assert_eq!(searched("/usr/bin:lib"), searched("/usr/bin"));
    assert_ne!(searched("/usr/bin:bin"), searched("/usr/bin"));
}

// G8
#[test]
fn order_of_variables_does_not_matter_and_the_last_of_two_counts() {
    let mut reversed = launch_in("/p", &[]);
    reversed.env.reverse();
    assert_eq!(PlaceHash::from_launch(&reversed, |_| true), place_in("/p", &[]));
    assert_eq!(place_in("/p", &[("LANG", "x"), ("LANG", "C")]), place_in("/p", &[]));
}

// G8
#[test]
fn folder_and_environment_are_compared_apart() {
    let (base, folder, variable) =
        (place_in("/p", &[]), place_in("/q", &[]), place_in("/p", &[("LANG", "de")]));
    assert!(!base.has_same_folder(&folder) && base.has_same_environment(&folder));
    assert!(base.has_same_folder(&variable) && !base.has_same_environment(&variable));
}

// G8
#[test]
fn client_without_search_path_has_a_place() {
    let bare = ProgramLaunch { program: "server".into(), args: Vec::new(), env: Vec::new(), cwd: None };
    assert_eq!(PlaceHash::from_launch(&bare, |_| true), PlaceHash::from_launch(&bare, |_| false));
}
