//! The names and addresses that may be connected to, without connecting.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;

/// A fake resolver. Of several answers each is given once, and the last one from then on.
#[derive(Debug, Default)]
pub(in crate::web) struct Told(Mutex<Vec<(String, VecDeque<Vec<IpAddr>>)>>, Mutex<Vec<String>>);

impl Told {
    pub(in crate::web) fn new(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        let names =
            names.iter().map(|(name, answers)| ((*name).to_owned(), answers.iter().map(addresses).collect()));
        Arc::new(Self(Mutex::new(names.collect()), Mutex::default()))
    }

    /// The names that were resolved, in order.
    pub(in crate::web) fn asked(&self) -> Vec<String> {
        self.1.lock().unwrap().clone()
    }
}

impl NameResolver for Told {
    fn resolve_name<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxedFuture<'a, Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>>> {
        self.1.lock().unwrap().push(name.to_owned());
        let mut names = self.0.lock().unwrap();
        let answers = names.iter_mut().find(|(known, _)| known == name).map(|(_, answers)| answers);
        let answer = answers.and_then(|answers| match answers.len() {
            1 => answers.front().cloned(),
            _ => answers.pop_front(),
        });
        Box::pin(std::future::ready(answer.ok_or_else(|| "nobody knows it".into())))
    }
}

const NAMES: &[(&str, &[&[&str]])] = &[
    ("mcp.example", &[&["8.8.8.8", "2606:4700::1"]]),
    ("mcp.corp", &[&["10.0.0.5"]]),
    ("mcp.test", &[&["127.0.0.1", "::1"]]),
    ("far.example", &[&["1.1.1.1"]]),
    ("near.example", &[&["10.0.0.1"]]),
    ("here.example", &[&["127.0.0.1"]]),
    ("mixed.example", &[&["1.1.1.1", "10.0.0.1"]]),
    ("mapped.example", &[&["::ffff:10.0.0.1"]]),
    ("cloud.example", &[&["169.254.169.254"]]),
    ("cable.example", &[&["fe80::1"]]),
    ("localhost", &[&["127.0.0.1"]]),
    ("stray.localhost", &[&["8.8.8.8"]]),
];

fn watch(server: &str) -> AddressGuard {
    AddressGuard::new(Told::new(NAMES)).with_trusted(&Url::parse(server).unwrap(), true)
}

async fn reason(watch: &AddressGuard, name: &str) -> Option<ForbiddenReason> {
    let error = watch.resolve_name(name).await.err()?;
    error.downcast_ref::<Forbidden>().map(|forbidden| forbidden.reason)
}

async fn checked(watch: &AddressGuard, host: &str) -> Option<ForbiddenReason> {
    let url = Url::parse(&format!("https://{host}/")).unwrap();
    watch.check_host(&url.host().unwrap()).await.err().map(|forbidden| forbidden.reason)
}

// B69 H15
#[tokio::test]
async fn server_may_not_name_addresses_of_narrower_reach() {
    use ForbiddenReason::{LinkLocal, Loopback, Metadata, Private, Unexpected};
    let never = [("cloud.example", Metadata), ("cable.example", LinkLocal), ("stray.localhost", Unexpected)];
    for (servers, near, here) in [
        (
            ["https://mcp.example", "https://93.184.216.34", "https://nobody.example"],
            Some(Private),
            Some(Loopback),
        ),
        (["https://mcp.corp", "https://192.168.0.1", "https://[fd12::1]"], None, Some(Loopback)),
        (["https://mcp.test", "http://127.0.0.1:8", "http://localhost:8"], None, None),
    ] {
        for server in servers {
            let watch = watch(server);
            assert_eq!(reason(&watch, "far.example").await, None, "{server}");
            for name in ["near.example", "mixed.example", "mapped.example"] {
                assert_eq!(reason(&watch, name).await, near, "{server} {name}");
            }
            for name in ["here.example", "localhost"] {
                assert_eq!(reason(&watch, name).await, here, "{server} {name}");
            }
            for (name, wanted) in never {
                assert_eq!(reason(&watch, name).await, Some(wanted), "{server} {name}");
            }
        }
    }
}

// B68
#[tokio::test]
async fn numeric_and_special_hosts_are_checked_without_resolving() {
    use ForbiddenReason::{Loopback, Metadata, Private, Unassigned};
    let names = Told::new(NAMES);
    let watch =
        AddressGuard::new(names.clone()).with_trusted(&Url::parse("https://93.184.216.34").unwrap(), true);
    for (host, wanted) in [
        ("8.8.8.8", None),
        ("far.example", None),
        ("near.example", None),
        ("169.254.169.254", Some(Metadata)),
        ("[::ffff:10.0.0.1]", Some(Private)),
        ("[64:ff9b::10.0.0.1]", Some(Private)),
        ("0x7f.1", Some(Loopback)),
        ("2130706433", Some(Loopback)),
        ("127.1", Some(Loopback)),
        ("[::1]", Some(Loopback)),
        ("localhost", Some(Loopback)),
        ("LOCALHOST.", Some(Loopback)),
        ("a.localhost", Some(Loopback)),
        ("0.0.0.0", Some(Unassigned)),
        ("metadata.google.internal", Some(Metadata)),
        ("METADATA.google.internal.", Some(Metadata)),
    ] {
        assert_eq!(checked(&watch, host).await, wanted, "{host}");
    }
    assert_eq!(names.asked(), [""; 0]);
}

// B69
#[tokio::test]
async fn reach_of_a_server_is_fixed_at_the_first_lookup() {
    let names: &[(&str, &[&[&str]])] = &[("mcp.example", &[&["10.0.0.5"], &["8.8.8.8"]])];
    let watch =
        AddressGuard::new(Told::new(names)).with_trusted(&Url::parse("https://mcp.example").unwrap(), true);
    assert_eq!(checked(&watch, "10.0.0.1").await, None);
    assert_eq!(reason(&watch, "mcp.example").await, Some(ForbiddenReason::Unexpected));
    let names: &[(&str, &[&[&str]])] = &[("mcp.example", &[&["8.8.8.8"], &["10.0.0.5"]])];
    let watch =
        AddressGuard::new(Told::new(names)).with_trusted(&Url::parse("https://mcp.example").unwrap(), true);
    assert_eq!(checked(&watch, "10.0.0.1").await, Some(ForbiddenReason::Private));
    assert_eq!(reason(&watch, "mcp.example").await, Some(ForbiddenReason::Private));
}

// H15
#[tokio::test]
async fn configured_place_may_be_private() {
    let far = watch("https://mcp.example");
    let near = far.with_trusted(&Url::parse("https://near.example/meta").unwrap(), true);
    assert_eq!(reason(&near, "near.example").await, None);
    assert_eq!(checked(&near, "10.0.0.9").await, None);
    assert_eq!(reason(&near, "here.example").await, Some(ForbiddenReason::Loopback));
    let here = far.with_trusted(&Url::parse("http://localhost:8/meta").unwrap(), true);
    assert_eq!(reason(&here, "localhost").await, None);
    // And only for that client.
    assert_eq!(reason(&far, "near.example").await, Some(ForbiddenReason::Private));
}

// H15
#[tokio::test]
async fn failed_lookup_of_a_server_is_repeated() {
    let names: &[(&str, &[&[&str]])] = &[("mcp.corp", &[&[], &["10.0.0.5"]])];
    let watch =
        AddressGuard::new(Told::new(names)).with_trusted(&Url::parse("https://mcp.corp").unwrap(), true);
    assert_eq!(checked(&watch, "10.0.0.1").await, Some(ForbiddenReason::Private));
    assert_eq!(checked(&watch, "10.0.0.1").await, None);
}
