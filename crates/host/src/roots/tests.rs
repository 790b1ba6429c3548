//! Which roots are offered, and to whom.

use mcparley_model::config::{Stdio, Transport};
use mcparley_model::secret::Secret;

use super::project::is_too_wide;
use super::*;

fn folders(roots: &Roots) -> Vec<PathBuf> {
    roots.known().iter().filter_map(Root::folder).collect()
}

fn paths(home: &Path, cwd: &Path) -> Paths {
    std::fs::create_dir_all(cwd).unwrap();
    Paths::of(home, cwd)
}

// X6 B125
#[test]
fn project_folder_is_offered_for_each_mark_and_nothing_without_one() {
    for mark in [".git", ".hg", ".jj", ".mcp.json", ".claude"] {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("home/project"));
        let inside = project.join("src/deep");
        let roots = Roots::of(&paths(&home, &inside));
        assert_eq!(folders(&roots), <[PathBuf; 0]>::default(), "no project yet");
        std::fs::create_dir(project.join(mark)).unwrap();
        assert_eq!(folders(&Roots::of(&paths(&home, &inside))), [project], "{mark}");
    }
}

// X6 B125
#[test]
fn root_and_home_are_never_offered() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().canonicalize().unwrap();
    let home = root.join("home");
    // The user's own settings make no project of the home directory.
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::create_dir_all(home.join(".git")).unwrap();
    for cwd in [Path::new("/"), &home, &root] {
        let mut paths = Paths::of(&home, cwd);
        paths.add_dirs = vec!["/".into(), home.clone(), root.join("data")];
        assert_eq!(folders(&Roots::of(&paths)), [root.join("data")], "{}", cwd.display());
    }
    let link = root.join("link");
    std::os::unix::fs::symlink(&home, &link).unwrap();
    assert!(is_too_wide(&link, &home), "under another name it is the same");
    assert!(is_too_wide(Path::new("/etc/.."), &home));
    assert!(!is_too_wide(&home.join("project"), &home));
}

// X6
#[test]
fn added_folders_are_offered_once_and_only_absolute_ones() {
    let mut paths = Paths::of(Path::new("/nowhere/a"), Path::new("/nowhere/a/some work"));
    paths.add_dirs =
        ["/nowhere/a/some work", "/srv/data", "/srv/data", "not/absolute"].map(PathBuf::from).to_vec();
    let uris: Vec<String> = Roots::of(&paths).known().into_iter().map(|root| root.uri).collect();
    assert_eq!(uris, ["file:///nowhere/a/some%20work", "file:///srv/data"]);
}

// X6
#[test]
fn only_other_roots_are_a_change() {
    let roots = Roots::of(&Paths::of(Path::new("/nowhere/a"), Path::new("/nowhere/a")));
    let one = || Root::of_folder(Path::new("/srv/one")).into_iter();
    let versions = [one(), one(), None.into_iter()].map(|them| {
        roots.set(them);
        roots.0.borrow().version
    });
    assert_eq!(versions, [1, 1, 2]);
}

// X6 C10
#[tokio::test]
async fn entry_says_which_roots_its_server_gets() {
    let paths = Paths::of(Path::new("/nowhere/a"), Path::new("/nowhere/project"));
    let offered = Roots::offering(Root::of_folder(Path::new("/srv/one")).map(|root| vec![root]));
    let table = [
        (RootsPolicy::Offered, vec!["file:///srv/one"]),
        (RootsPolicy::Withheld, vec![]),
        (RootsPolicy::Folders(vec![".".into(), "src".into(), "/srv/two".into()]), {
            vec!["file:///nowhere/project", "file:///nowhere/project/src", "file:///srv/two"]
        }),
    ];
    for (policy, expected) in table {
        let config = ServerConfig { roots: policy, ..ServerConfig::new(Transport::Sdk { name: "x".into() }) };
        let (_, result) = ServerRoots::of(&config, &offered, &paths).to_result().await;
        let expected: Vec<Value> = expected.into_iter().map(|uri| json!({ "uri": uri })).collect();
        assert_eq!(result, json!({ "roots": expected }), "{config:?}");
    }
}

// X6: a gateway's client may never tell.
#[tokio::test(start_paused = true)]
async fn roots_that_nobody_tells_are_none_after_a_while() {
    let paths = Paths::of(Path::new("/nowhere/a"), Path::new("/nowhere/project"));
    let offered = Roots::unknown();
    let config = ServerConfig::new(Transport::Sdk { name: "x".into() });
    let roots = ServerRoots::of(&config, &offered, &paths);
    assert_eq!(roots.to_result().await, (0, json!({ "roots": [] })));
    offered.set(std::iter::empty());
    assert_eq!(roots.to_result().await, (1, json!({ "roots": [] })));
}

// X6 B125
#[test]
#[expect(clippy::disallowed_methods, reason = "an empty file of the test's own")]
fn folders_are_found_in_the_arguments_of_a_server() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().canonicalize().unwrap();
    let (home, project, data) = (root.join("home"), root.join("project"), root.join("data"));
    for folder in [home.join("docs"), project.join("sub"), data.clone()] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::File::create(root.join("server.js")).unwrap();
    let path = |path: &Path| path.display().to_string();
    let table: [(String, Option<PathBuf>); 12] = [
        (path(&data), Some(data.clone())),
        (format!("--root={}", path(&data)), Some(data.clone())),
        (format!("{}:/projects:ro", path(&data)), Some(data.clone())),
        (format!("type=bind,src={},dst=/nowhere", path(&data)), Some(data.clone())),
        (format!("exec serve '{}'", path(&data)), Some(data.clone())),
        ("~/docs".into(), Some(home.join("docs"))),
        ("sub".into(), Some(project.join("sub"))),
        (".".into(), Some(project.join("."))),
        (path(&root.join("server.js")), None),
        (path(&root.join("absent")), None),
        (format!("https://example.com/{}", path(&data)), None),
        ("--verbose".into(), None),
    ];
    for (argument, expected) in table {
        let stdio = Stdio {
            command: "x".into(),
            args: vec![Secret::new(argument.clone())],
            env: Vec::new(),
            cwd: None,
            inherit_env: false,
        };
        let config = ServerConfig::new(Transport::Stdio(stdio));
        let found = named_folders(&config, &project, &home);
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{argument}");
    }
}
