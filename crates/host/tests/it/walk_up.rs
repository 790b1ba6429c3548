//! Where `.mcp.json` is looked for: from the working directory up to the home directory (C3).

use std::path::PathBuf;

use mcparley::Paths;

use crate::world::{World, server, servers};

fn approving(world: World) -> World {
    world.write("managed/managed-settings.json", r#"{"enableAllProjectMcpServers": true}"#);
    world
}

// C3
#[test]
fn nearest_file_wins_and_farther_ones_add_other_servers() {
    let world = approving(World::new().standing_in("home/project/deep"));
    world.write("home/.mcp.json", &servers(&["it", "home"]));
    world.write("home/project/.mcp.json", &servers(&["it", "middle"]));
    world.write("home/project/deep/.mcp.json", &servers(&["it"]));
    let by = "home/project/deep/.mcp.json:1:17 declares the same name and wins";
    assert_eq!(
        world.table(),
        [
            format!("project it shadowed: {by}"),
            "project home ready".to_owned(),
            format!("project it shadowed: {by}"),
            "project middle ready".to_owned(),
            "project it ready".to_owned(),
        ]
    );
}

// C3
#[test]
fn no_file_above_the_home_directory_is_read() {
    let world = World::with(&[(".mcp.json", &servers(&["above"])), ("home/.mcp.json", &servers(&["home"]))]);
    let names: Vec<String> = world.load().plan.servers.iter().map(|s| s.name.as_str().to_owned()).collect();
    assert_eq!(names, ["home"]);
}

// C3
#[test]
fn outside_of_the_home_directory_the_search_goes_to_the_root() {
    let paths = Paths::new("/home/me".as_ref(), "/srv/site/deep".as_ref());
    let searched: Vec<PathBuf> = paths.project_files().collect();
    let expected = ["/srv/site/deep/.mcp.json", "/srv/site/.mcp.json", "/srv/.mcp.json", "/.mcp.json"]
        .map(PathBuf::from);
    assert_eq!(searched, expected);
}

// C3
#[test]
fn outside_of_the_home_directory_farther_files_are_read_too() {
    let world = World::new().standing_in("srv/site/deep");
    world.write("srv/.mcp.json", &server("it", "x"));
    assert_eq!(world.table(), ["project it needs approval: comes with the project and was not approved yet"]);
}

// C3
#[test]
fn the_home_directory_itself_is_searched_and_is_the_last() {
    let paths = Paths::new("/home/me".as_ref(), "/home/me/a".as_ref());
    let searched: Vec<PathBuf> = paths.project_files().collect();
    assert_eq!(searched, ["/home/me/a/.mcp.json", "/home/me/.mcp.json"].map(PathBuf::from));
}
