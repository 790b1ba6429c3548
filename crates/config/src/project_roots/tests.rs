//! Folders in the arguments of a server.

use mcparley_model::config::StdioConfig;
use mcparley_model::secret::Secret;

use super::*;

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
        let stdio = StdioConfig {
            command: "x".into(),
            args: vec![Secret::new(argument.clone())],
            env: Vec::new(),
            cwd: None,
            inherit_env: false,
        };
        let config = ServerConfig::new(TransportConfig::Stdio(stdio));
        let found = named_folders(&config, &project, &home);
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{argument}");
    }
}
