//! The user's own files: two for everywhere, two for this project (C2, C4), and leaving some out (U2a).

use mcparley::config::SettingSource;

use crate::world::{World, server, servers};

// C2
#[test]
fn both_user_files_are_read_and_the_settings_file_wins() {
    let world = World::with(&[
        ("home/.claude.json", &servers(&["both", "old"])),
        ("home/.claude/settings.json", &servers(&["both", "new"])),
    ]);
    assert_eq!(
        world.table(),
        [
            "user both shadowed: home/.claude/settings.json:1:17 declares the same name and wins",
            "user old ready",
            "user both ready",
            "user new ready",
        ]
    );
}

// C4
#[test]
fn both_local_places_are_read_and_the_settings_file_wins() {
    let world = World::new();
    let key = world.path("home/project").to_string_lossy().into_owned();
    let private = format!(
        r#"{{"projects": {{"{key}": {}, "/elsewhere": {}}}}}"#,
        servers(&["both", "private"]),
        servers(&["other"])
    );
    world.write("home/.claude.json", &private);
    world.write("home/project/.claude/settings.local.json", &servers(&["both", "inside"]));
    let waits = "needs approval: comes with the project and was not approved yet";
    assert_eq!(
        world.table(),
        [
            "local both ready".to_owned(),
            "local private ready".to_owned(),
            format!("local both {waits}"),
            format!("local inside {waits}"),
        ]
    );
    world.approve("inside", None).unwrap();
    world.approve("both", None).unwrap();
    let by = "home/project/.claude/settings.local.json:1:17";
    assert_eq!(
        world.table(),
        [
            format!("local both shadowed: {by} declares the same name and wins"),
            "local private ready".to_owned(),
            "local both ready".to_owned(),
            "local inside ready".to_owned(),
        ]
    );
}

// C4
#[test]
fn below_a_repository_the_local_files_are_those_of_its_root() {
    let world = World::new().standing_in("home/project/deep/inside");
    world.write("home/project/.git/HEAD", "ref: refs/heads/main\n");
    world.write("home/project/.claude/settings.local.json", &servers(&["root"]));
    world.write("home/project/deep/inside/.claude/settings.local.json", &servers(&["deep"]));
    assert_eq!(world.table(), ["local root needs approval: comes with the project and was not approved yet"]);
}

// C4
#[test]
fn a_config_directory_of_ones_own_moves_the_user_files() {
    let world = World::with(&[
        ("home/.claude.json", &servers(&["usual"])),
        ("elsewhere/.claude.json", &servers(&["moved"])),
        ("elsewhere/settings.json", &servers(&["settings"])),
    ]);
    let mut paths = world.paths();
    paths.claude.dir = world.path("elsewhere");
    paths.claude.json = world.path("elsewhere/.claude.json");
    let loaded = mcparley::config::load_config(&paths, &world.run_options);
    assert_eq!(world.lines(&loaded), ["user moved ready", "user settings ready"]);
}

// U2a
#[test]
fn left_out_sources_are_not_read_and_are_named() {
    use SettingSource::{Local, Project, User};
    let mut world = World::with(&[
        ("home/.claude.json", &servers(&["user"])),
        ("home/project/.mcp.json", &servers(&["project"])),
        ("home/project/.claude/settings.local.json", &servers(&["local"])),
    ]);
    let cases = [
        (vec![User], vec!["user user ready"], vec![Project, Local]),
        (vec![Project], vec!["project project ready"], vec![User, Local]),
        (
            vec![Local],
            vec!["local local needs approval: comes with the project and was not approved yet"],
            vec![User, Project],
        ),
        (vec![], vec![], vec![User, Project, Local]),
    ];
    for (wanted, table, left_out) in cases {
        world.run_options.setting_sources = Some(wanted);
        let loaded = world.load();
        assert_eq!(world.lines(&loaded), table);
        assert_eq!(loaded.left_out, left_out);
    }
}

// C2
#[test]
fn servers_in_a_repositorys_settings_wait_like_those_of_its_own_file() {
    let world = World::with(&[("home/project/.claude/settings.json", &server("it", "x"))]);
    assert_eq!(world.table(), ["project it needs approval: comes with the project and was not approved yet"]);
    assert_eq!(world.problems(), [] as [&str; 0]);
}

// C7
#[test]
fn a_switched_off_server_says_where_it_was_switched_off() {
    let world = World::with(&[
        ("home/.claude.json", &servers(&["it"])),
        ("home/.claude/settings.json", r#"{"disabledMcpServers": ["it"]}"#),
    ]);
    assert_eq!(world.table(), ["user it disabled: switched off in home/.claude/settings.json:1:25"]);
}
