//! The rules of sharing: tables of decisions, and properties that hold for all requests.

mod properties;

use std::path::PathBuf;

use mcparley_model::config::StdioConfig;
use mcparley_platform::process::ProgramLaunch;

use super::SharePolicy::{Always, Never, Project};
use super::start_folder::StartFolder::{Client, Empty, Entry};
use super::*;

/// The configuration of a local server.
fn local_server(command: &str, cwd: Option<&str>, inherit_env: bool, share: SharePolicy) -> ServerConfig {
    let stdio = StdioConfig {
        command: command.to_owned(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: cwd.map(str::to_owned),
        inherit_env,
    };
    ServerConfig { share, ..ServerConfig::new(TransportConfig::Stdio(stdio)) }
}

/// The place of a client in this folder.
pub(super) fn place_in(folder: &str, variable: &str) -> PlaceHash {
    let launch = ProgramLaunch {
        program: "server".into(),
        args: Vec::new(),
        env: vec![("CLAUDE_PROJECT_DIR".into(), folder.into()), ("LANG".into(), variable.into())],
        cwd: Some(PathBuf::from(folder)),
    };
    PlaceHash::from_launch(&launch, |_| true)
}

fn roots_at(folder: &str) -> RootsHash {
    let root = crate::roots::Root { uri: format!("file://{folder}"), name: None };
    RootsHash::from_roots(Some(&[root]))
}

fn request_for(config: &ServerConfig, era: Option<Era>) -> ShareRequest<'_> {
    ShareRequest {
        entry: SharedEntry::from_config(config).unwrap(),
        place: place_in("/p", "C"),
        offer: ClientOffer::ALL,
        roots: roots_at("/p"),
        session: "one",
        era,
    }
}

/// A known server without any trait.
const PLAIN: KnownServer = KnownServer {
    name: "plain",
    uses_folder: true,
    stateful: false,
    ignores_offer: false,
    reads_roots: false,
    why: "",
};

const NO_TRAITS: ServerTraits =
    ServerTraits { reads_roots: false, asks: false, varies: false, ignores_offer: false };

/// The parts of the key besides the signature, in one word each.
fn key_parts(key: &SharedKey) -> String {
    let parts = [
        ("place", key.place.is_some()),
        ("offer", key.offer.is_some()),
        ("roots", key.roots.is_some()),
        ("session", key.session.is_some()),
    ];
    parts.into_iter().filter_map(|(part, is_there)| is_there.then_some(part)).collect::<Vec<_>>().join(" ")
}

/// A row of the decision table.
struct ShareCase {
    what: &'static str,
    share: SharePolicy,
    cwd: Option<&'static str>,
    inherit_env: bool,
    era: Option<Era>,
    traits: ServerTraits,
    known: Option<KnownServer>,
    parts: &'static str,
    folder: StartFolder,
}

const BASE: ShareCase = ShareCase {
    what: "a server about which nothing is known",
    share: SharePolicy::Auto,
    cwd: None,
    inherit_env: false,
    era: None,
    traits: NO_TRAITS,
    known: None,
    parts: "place offer",
    folder: StartFolder::Client,
};

const ASKS: ServerTraits = ServerTraits { asks: true, ..NO_TRAITS };
const READS_ROOTS: ServerTraits = ServerTraits { reads_roots: true, ..NO_TRAITS };
const IGNORES: ServerTraits = ServerTraits { ignores_offer: true, ..NO_TRAITS };
const VARIES: ServerTraits = ServerTraits { varies: true, ..NO_TRAITS };
const STATEFUL: KnownServer = KnownServer { stateful: true, ..PLAIN };
const FOLDER_FREE: KnownServer = KnownServer { uses_folder: false, ..PLAIN };
const KNOWN_TO_IGNORE: KnownServer = KnownServer { ignores_offer: true, ..PLAIN };
const FREE: KnownServer = KnownServer { ignores_offer: true, ..FOLDER_FREE };

const OLD: Option<Era> = Some(Era::Old);
const NEW: Option<Era> = Some(Era::New);

/// Folder and environment.
const PLACE_CASES: &[ShareCase] = &[
    BASE,
    ShareCase { what: "era to be detected", era: Some(Era::Auto), ..BASE },
    ShareCase { what: "old era", era: OLD, ..BASE },
    ShareCase { what: "new era", era: NEW, parts: "place", ..BASE },
    ShareCase { what: "absolute cwd", cwd: Some("/srv"), parts: "offer", folder: Entry, ..BASE },
    ShareCase { what: "relative cwd", cwd: Some("sub"), ..BASE },
    ShareCase { what: "folder-free", known: Some(FOLDER_FREE), parts: "offer", folder: Empty, ..BASE },
    ShareCase { what: "known, uses its folder", known: Some(PLAIN), ..BASE },
    ShareCase { what: "folder-free, whole environment", known: Some(FOLDER_FREE), inherit_env: true, ..BASE },
    ShareCase { what: "absolute cwd, whole environment", cwd: Some("/srv"), inherit_env: true, ..BASE },
    ShareCase { what: "nothing left", known: Some(FREE), parts: "", folder: Empty, ..BASE },
];

/// Capabilities, roots and sessions.
const TRAIT_CASES: &[ShareCase] = &[
    // Capabilities.
    ShareCase { what: "observed to ignore the offer", traits: IGNORES, parts: "place", ..BASE },
    ShareCase { what: "known to ignore the offer", known: Some(KNOWN_TO_IGNORE), parts: "place", ..BASE },
    ShareCase { what: "varies", traits: VARIES, ..BASE },
    ShareCase { what: "varies against the table", traits: VARIES, known: Some(KNOWN_TO_IGNORE), ..BASE },
    ShareCase { what: "varies, new era", traits: VARIES, era: NEW, parts: "place", ..BASE },
    // Roots.
    ShareCase { what: "reads roots", traits: READS_ROOTS, parts: "place offer roots", ..BASE },
    ShareCase {
        what: "known to read roots",
        known: Some(KnownServer { reads_roots: true, ..PLAIN }),
        parts: "place offer roots",
        ..BASE
    },
    ShareCase { what: "reads roots, new era", traits: READS_ROOTS, era: NEW, parts: "place", ..BASE },
    // Session.
    ShareCase { what: "asks", traits: ASKS, parts: "place offer session", ..BASE },
    ShareCase {
        what: "asks against the table",
        traits: ASKS,
        known: Some(FREE),
        parts: "place offer session",
        ..BASE
    },
    ShareCase { what: "asks, new era", traits: ASKS, era: NEW, parts: "place", ..BASE },
    ShareCase { what: "stateful", known: Some(STATEFUL), parts: "place offer session", ..BASE },
    ShareCase { what: "stateful, new era", known: Some(STATEFUL), era: NEW, parts: "place session", ..BASE },
    ShareCase {
        what: "stateful, absolute cwd",
        known: Some(STATEFUL),
        cwd: Some("/srv"),
        parts: "place offer session",
        ..BASE
    },
];

/// The `share` of the entry.
const POLICY_CASES: &[ShareCase] = &[
    ShareCase { what: "always", share: Always, parts: "", folder: Empty, ..BASE },
    ShareCase { what: "always, asks", share: Always, traits: ASKS, parts: "", folder: Empty, ..BASE },
    ShareCase { what: "always, roots", share: Always, traits: READS_ROOTS, parts: "", folder: Empty, ..BASE },
    ShareCase {
        what: "always, stateful",
        share: Always,
        known: Some(STATEFUL),
        parts: "",
        folder: Empty,
        ..BASE
    },
    ShareCase {
        what: "always, environment",
        share: Always,
        inherit_env: true,
        parts: "",
        folder: Empty,
        ..BASE
    },
    ShareCase { what: "always, cwd", share: Always, cwd: Some("/srv"), parts: "", folder: Entry, ..BASE },
    ShareCase { what: "project", share: Project, ..BASE },
    ShareCase { what: "project, folder-free", share: Project, known: Some(FREE), parts: "place", ..BASE },
    ShareCase { what: "project, cwd", share: Project, cwd: Some("/srv"), ..BASE },
    ShareCase { what: "project, stateful", share: Project, known: Some(STATEFUL), ..BASE },
    ShareCase { what: "project, asks", share: Project, traits: ASKS, ..BASE },
    ShareCase {
        what: "project, roots",
        share: Project,
        traits: READS_ROOTS,
        parts: "place offer roots",
        ..BASE
    },
    ShareCase { what: "never", share: Never, parts: "place offer session", ..BASE },
    ShareCase { what: "never, new era", share: Never, era: NEW, parts: "place session", ..BASE },
    ShareCase { what: "never, cwd", share: Never, cwd: Some("/srv"), parts: "place offer session", ..BASE },
    ShareCase {
        what: "never, free",
        share: Never,
        known: Some(FREE),
        parts: "place session",
        folder: Client,
        ..BASE
    },
];

// G8
#[test]
fn key_has_the_parts_that_the_server_may_depend_on() {
    for case in [PLACE_CASES, TRAIT_CASES, POLICY_CASES].into_iter().flatten() {
        let config = local_server("x", case.cwd, case.inherit_env, case.share);
        let decision = decide_share(&request_for(&config, case.era), &case.traits, case.known.as_ref());
        assert_eq!(
            (key_parts(&decision.key).as_str(), decision.folder),
            (case.parts, case.folder),
            "{}",
            case.what
        );
    }
}

// G8
#[test]
fn key_holds_the_values_of_the_client() {
    let config = local_server("x", None, false, SharePolicy::Auto);
    let request = request_for(&config, None);
    let traits = ServerTraits { asks: true, reads_roots: true, ..NO_TRAITS };
    let expected = SharedKey {
        signature: Signature::from_config(&config),
        place: Some(place_in("/p", "C")),
        offer: Some(ClientOffer::ALL),
        roots: Some(roots_at("/p")),
        session: Some("one".into()),
    };
    assert_eq!(decide_share(&request, &traits, None).key, expected);
}

// G8
#[test]
fn every_part_of_the_key_has_a_reason_in_words() {
    let config = local_server("x", None, false, SharePolicy::Auto);
    let reasons = |traits, known: Option<KnownServer>| -> Vec<String> {
        let decision = decide_share(&request_for(&config, None), &traits, known.as_ref());
        decision.reasons.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        reasons(NO_TRAITS, None),
        [
            "runs in the project's folder; `share: always` if it does not use the folder",
            "may list other tools to clients with other capabilities; `share: always` if it does not",
        ]
    );
    assert_eq!(
        reasons(ServerTraits { reads_roots: true, ..ASKS }, None),
        [
            "belongs to one session and runs in its folder",
            "asks its client, so it has to know the capabilities of that client",
            "reads the roots of its client",
            "asks its client, and its questions do not say which session they belong to",
        ]
    );
    assert_eq!(
        reasons(NO_TRAITS, Some(STATEFUL)).last().unwrap(),
        "is known to keep state for one session (plain); `share: project` to share it anyway"
    );
}

// G8
#[test]
fn only_local_servers_are_shared_by_key() {
    let remote = ServerConfig::new(TransportConfig::Sdk { name: "x".to_owned() });
    assert!(SharedEntry::from_config(&remote).is_none());
    let config = local_server("/opt/x", Some("/srv"), true, SharePolicy::Never);
    let entry = SharedEntry::from_config(&config).unwrap();
    assert_eq!(
        (entry.program, entry.has_own_folder, entry.inherits_env, entry.share),
        ("/opt/x", true, true, SharePolicy::Never)
    );
    let relative = local_server("x", Some("srv"), false, SharePolicy::Auto);
    assert!(!SharedEntry::from_config(&relative).unwrap().has_own_folder);
}

// G8 B62
#[test]
fn request_does_not_print_arguments() {
    let mut config = local_server("x", None, false, SharePolicy::Auto);
    if let TransportConfig::Stdio(stdio) = &mut config.transport {
        stdio.args.push(Secret::new("s3cret-canary".to_owned()));
    }
    assert!(!format!("{:?}", request_for(&config, None)).contains("canary"));
}

// G8
#[test]
fn client_without_roots_differs_from_one_with_an_empty_list() {
    assert_ne!(RootsHash::from_roots(None), RootsHash::from_roots(Some(&[])));
    assert_ne!(roots_at("/a"), roots_at("/b"));
    assert_eq!(roots_at("/a"), roots_at("/a"));
}

/// The key of a client in this project with this terminal, from the entry to the decision.
fn decide_in_project(config: &ServerConfig, project: &str, variables: &[(&str, &str)]) -> ShareDecision {
    let TransportConfig::Stdio(stdio) = &config.transport else { panic!("{config:?}") };
    let env = [("HOME", "/home/u"), ("PATH", "/usr/bin")].iter().chain(variables);
    let env = env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let paths = mcparley_config::Paths::new(Path::new("/home/u"), Path::new(project));
    let launch = crate::launch::build_launch_with_ancestry(config, stdio, &env, &paths);
    let entry = SharedEntry::from_config(config).unwrap();
    let request = ShareRequest {
        entry,
        place: PlaceHash::from_launch(&launch, |_| true),
        ..request_for(config, Some(Era::Old))
    };
    decide_share(&request, &NO_TRAITS, entry.known_server().as_ref())
}

// G8
#[test]
fn clients_in_two_projects_share_only_a_server_that_does_not_use_its_folder() {
    let with_args = |command: &str, args: &[&str]| {
        let mut config = local_server(command, None, false, SharePolicy::Auto);
        if let TransportConfig::Stdio(stdio) = &mut config.transport {
            stdio.args = args.iter().map(|argument| Secret::new((*argument).to_owned())).collect();
        }
        config
    };
    let terminal: &[(&str, &str)] = &[("TERM", "xterm"), ("MCPARLEY_ANCESTRY", "a"), ("SECRET_TOKEN", "t")];
    let ordinary = with_args("npx", &["-y", "some-server"]);
    let first = decide_in_project(&ordinary, "/home/u/p", &[]);
    assert_eq!(first, decide_in_project(&ordinary, "/home/u/p", terminal), "another terminal");
    assert_ne!(first.key, decide_in_project(&ordinary, "/home/u/q", &[]).key, "another project");
    assert_ne!(first.key, decide_in_project(&ordinary, "/home/u/p", &[("LANG", "de")]).key, "a variable");
    assert_eq!(first.folder, Client);

    let known = with_args("uvx", &["mcp-server-time"]);
    let first = decide_in_project(&known, "/home/u/p", &[]);
    assert_eq!(first, decide_in_project(&known, "/home/u/q", terminal));
    assert_eq!((key_parts(&first.key).as_str(), first.folder), ("", Empty));

    let browser = with_args("npx", &["-y", "@playwright/mcp@latest"]);
    let first = decide_in_project(&browser, "/home/u/p", &[]);
    assert_eq!(key_parts(&first.key), "place offer roots session");
}
