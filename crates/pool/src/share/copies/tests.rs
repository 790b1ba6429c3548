//! Explanations of several copies.

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::signature::Signature;

use super::*;
use crate::client_offer::ClientOffer;
use crate::pool_key::RootsHash;
use crate::share::tests::place_in;

fn key_at(folder: Option<(&str, &str)>) -> SharedKey {
    let config = ServerConfig::new(TransportConfig::Sdk { name: "x".to_owned() });
    SharedKey {
        signature: Signature::from_config(&config),
        place: folder.map(|(folder, variable)| place_in(folder, variable)),
        offer: None,
        roots: None,
        session: None,
    }
}

fn offer_with(form: bool) -> Option<ClientOffer> {
    Some(ClientOffer { form, ..ClientOffer::default() })
}

fn session_key(name: &str) -> SharedKey {
    SharedKey { session: Some(name.into()), ..key_at(Some((name, "C"))) }
}

// G8
#[test]
fn several_copies_are_explained_by_the_difference_of_their_clients() {
    let (p, q, r) = (key_at(Some(("/p", "C"))), key_at(Some(("/q", "C"))), key_at(Some(("/r", "de"))));
    let german = key_at(Some(("/p", "de")));
    let with_offer = |key: &SharedKey, form| SharedKey { offer: offer_with(form), ..key.clone() };
    let rooted = |roots: Option<&[crate::roots::Root]>| SharedKey {
        roots: Some(RootsHash::from_roots(roots)),
        ..p.clone()
    };
    let cases = [
        (
            vec![p.clone(), q.clone(), r],
            "3 copies, one per project folder; `share: always` if it does not use the folder",
        ),
        (
            vec![p.clone(), german.clone()],
            "2 copies, one per environment; `share: always` if its variables make no difference",
        ),
        (
            vec![p.clone(), german, q.clone()],
            "3 copies, one per project folder and environment; `share: always` if these make no difference",
        ),
        (
            vec![with_offer(&p, true), with_offer(&p, false)],
            "2 copies, one per set of client capabilities; `share: always` if it has the same tools for every client",
        ),
        (
            vec![rooted(None), rooted(Some(&[]))],
            "2 copies, one per set of roots; `share: always` if it does not use the roots",
        ),
        (
            vec![session_key("/p"), session_key("/q")],
            "2 copies, one per session; `share: project` if sessions need not be kept apart",
        ),
        (
            vec![with_offer(&p, true), with_offer(&q, true), with_offer(&q, false)],
            "3 copies, one per project folder and set of client capabilities; `share: always` if these make no difference",
        ),
        (
            vec![p.clone(), SharedKey { session: Some("s".into()), ..p.clone() }],
            "2 copies, one per session; `share: project` if sessions need not be kept apart",
        ),
        (
            vec![key_at(None), p.clone()],
            "2 copies, one per project folder; `share: always` if it does not use the folder",
        ),
        (vec![p.clone(), p.clone()], "2 copies"),
    ];
    for (keys, expected) in cases {
        assert_eq!(explain_copies(&keys).as_deref(), Some(expected));
    }
}

// G8
#[test]
fn one_copy_needs_no_explanation() {
    assert_eq!(explain_copies(&[]), None);
    assert_eq!(explain_copies(&[key_at(None)]), None);
}
