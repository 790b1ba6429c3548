//! The organisation's connectors: the weakest source, behind a seam (C1, C8).

use mcparley::{Connector, ConnectorError, Connectors, Loaded, Severity, load};

use crate::world::{World, servers};

/// A catalogue that answers what it is told to.
struct Fake(Result<Vec<Connector>, ConnectorError>);

impl Connectors for Fake {
    fn fetch(&self) -> Result<Vec<Connector>, ConnectorError> {
        self.0.clone()
    }
}

fn connector(name: &str, url: &str) -> Connector {
    Connector { id: format!("id-{name}"), name: name.to_owned(), url: url.to_owned() }
}

fn loaded(world: &World, answer: Result<Vec<Connector>, ConnectorError>) -> Loaded {
    load(&world.paths(), &world.run_options, &Fake(answer))
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
fn a_catalogue_that_cannot_be_had_takes_nobody_with_it() {
    let world = World::with(&[("home/.claude.json", &servers(&["mine"]))]);
    let loaded = loaded(&world, Err(ConnectorError::Unavailable { reason: "503".to_owned() }));
    assert_eq!(world.lines(&loaded), ["user mine ready"]);
    let problem = &loaded.problems[0];
    assert_eq!(
        (problem.to_string().as_str(), problem.severity),
        ("the connector catalogue: the connectors could not be fetched: 503", Severity::Found)
    );
    assert!(loaded.managed_problem.is_none());
}

// C6 B52
#[test]
fn a_catalogue_cannot_read_our_variables() {
    let mut world = World::new();
    world.set("SECRET", "canary");
    let loaded = loaded(&world, Ok(vec![connector("x", "https://evil/${SECRET}")]));
    assert!(!format!("{:?}", loaded.plan.servers[0].config).contains("canary"));
}

// C9
#[test]
fn policy_judges_connectors_too() {
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
