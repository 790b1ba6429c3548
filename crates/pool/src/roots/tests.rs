//! The roots that are offered to servers.

use mcparley_model::config::TransportConfig;

use super::*;

fn folders(roots: &Roots) -> Vec<PathBuf> {
    roots.current_roots().iter().filter_map(Root::folder).collect()
}

fn paths(home: &Path, cwd: &Path) -> Paths {
    std::fs::create_dir_all(cwd).unwrap();
    Paths::new(home, cwd)
}

// X6 B125
#[test]
fn project_folder_is_offered_only_with_a_project_marker() {
    for mark in [".git", ".hg", ".jj", ".mcp.json", ".claude"] {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("home/project"));
        let inside = project.join("src/deep");
        let roots = Roots::from_paths(&paths(&home, &inside));
        assert_eq!(folders(&roots), <[PathBuf; 0]>::default(), "no project yet");
        std::fs::create_dir(project.join(mark)).unwrap();
        assert_eq!(folders(&Roots::from_paths(&paths(&home, &inside))), [project], "{mark}");
    }
}

// X6 B125
#[test]
fn root_and_home_are_never_offered() {
    let world = tempfile::tempdir().unwrap();
    let root = world.path().canonicalize().unwrap();
    let home = root.join("home");
    // The user's settings folder does not make the home directory a project.
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::create_dir_all(home.join(".git")).unwrap();
    for cwd in [Path::new("/"), &home, &root] {
        let mut paths = Paths::new(&home, cwd);
        paths.add_dirs = vec!["/".into(), home.clone(), root.join("data")];
        assert_eq!(folders(&Roots::from_paths(&paths)), [root.join("data")], "{}", cwd.display());
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
    let mut paths = Paths::new(Path::new("/nowhere/a"), Path::new("/nowhere/a/some work"));
    paths.add_dirs =
        ["/nowhere/a/some work", "/srv/data", "/srv/data", "not/absolute"].map(PathBuf::from).to_vec();
    let uris: Vec<String> =
        Roots::from_paths(&paths).current_roots().into_iter().map(|root| root.uri).collect();
    assert_eq!(uris, ["file:///nowhere/a/some%20work", "file:///srv/data"]);
}

// X6
#[test]
fn setting_equal_roots_is_not_a_change() {
    let roots = Roots::from_paths(&Paths::new(Path::new("/nowhere/a"), Path::new("/nowhere/a")));
    let one = || Root::from_folder(Path::new("/srv/one")).into_iter();
    let versions = [one(), one(), None.into_iter()].map(|them| {
        roots.set_roots(them);
        roots.offer.borrow().version
    });
    assert_eq!(versions, [1, 1, 2]);
}

// X6 C10
#[tokio::test]
async fn entry_sets_the_roots_of_its_server() {
    let paths = Paths::new(Path::new("/nowhere/a"), Path::new("/nowhere/project"));
    let offered = Roots::with_initial(Root::from_folder(Path::new("/srv/one")).map(|root| vec![root]));
    let table = [
        (RootsPolicy::Offered, vec!["file:///srv/one"]),
        (RootsPolicy::Withheld, vec![]),
        (RootsPolicy::Folders(vec![".".into(), "src".into(), "/srv/two".into()]), {
            vec!["file:///nowhere/project", "file:///nowhere/project/src", "file:///srv/two"]
        }),
    ];
    for (policy, expected) in table {
        let config =
            ServerConfig { roots: policy, ..ServerConfig::new(TransportConfig::Sdk { name: "x".into() }) };
        let (_, result) = ServerRoots::from_config(&config, &offered, &paths).to_result().await;
        let expected: Vec<Value> = expected.into_iter().map(|uri| json!({ "uri": uri })).collect();
        assert_eq!(result, json!({ "roots": expected }), "{config:?}");
    }
}

// X6: the client of a gateway may never send its roots.
#[tokio::test(start_paused = true)]
async fn unknown_roots_are_empty_after_a_timeout() {
    let paths = Paths::new(Path::new("/nowhere/a"), Path::new("/nowhere/project"));
    let offered = Roots::awaiting_client();
    let config = ServerConfig::new(TransportConfig::Sdk { name: "x".into() });
    let roots = ServerRoots::from_config(&config, &offered, &paths);
    assert_eq!(roots.to_result().await, (0, json!({ "roots": [] })));
    offered.set_roots(std::iter::empty());
    assert_eq!(roots.to_result().await, (1, json!({ "roots": [] })));
}
