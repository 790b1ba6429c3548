//! Properties of sharing that hold for all requests.

use proptest::prelude::*;

use super::super::traits::ServerTrait;
use super::*;

/// A client and its entry, from few values, so that two of them are often equal in some of their parts.
#[derive(Clone, Debug)]
struct Sample {
    command: &'static str,
    cwd: Option<&'static str>,
    inherit_env: bool,
    share: SharePolicy,
    folder: &'static str,
    variable: &'static str,
    offer: ClientOffer,
    roots: Option<&'static str>,
    session: &'static str,
    era: Option<Era>,
}

impl Sample {
    fn to_config(&self) -> ServerConfig {
        local_server(self.command, self.cwd, self.inherit_env, self.share)
    }

    /// The fields of the entry that are in its signature.
    fn entry_values(&self) -> (&'static str, Option<&'static str>, bool) {
        (self.command, self.cwd, self.inherit_env)
    }

    fn decide(&self, traits: &ServerTraits, known: Option<&KnownServer>) -> ShareDecision {
        let config = self.to_config();
        let request = ShareRequest {
            place: place_in(self.folder, self.variable),
            offer: self.offer,
            roots: self.roots.map_or(RootsHash::from_roots(None), roots_at),
            session: self.session,
            ..request_for(&config, self.era)
        };
        decide_share(&request, traits, known)
    }
}

prop_compose! {
    fn any_sample()(
        command in prop::sample::select(vec!["a", "b"]),
        cwd in prop::sample::select(vec![None, Some("/srv"), Some("sub")]),
        inherit_env in prop::bool::weighted(0.2),
        share in prop::sample::select(SharePolicy::ALL.to_vec()),
        folder in prop::sample::select(vec!["/p", "/q"]),
        variable in prop::sample::select(vec!["C", "de"]),
        (form, apps) in any::<(bool, bool)>(),
        roots in prop::sample::select(vec![None, Some("/p"), Some("/q")]),
        session in prop::sample::select(vec!["one", "two"]),
        era in prop::sample::select(vec![None, Some(Era::Auto), Some(Era::Old), Some(Era::New)]),
    ) -> Sample {
        let offer = ClientOffer { form, apps, ..ClientOffer::default() };
        Sample { command, cwd, inherit_env, share, folder, variable, offer, roots, session, era }
    }
}

fn any_observations() -> impl Strategy<Value = Vec<ServerTrait>> {
    prop::collection::vec(prop::sample::select(ServerTrait::ALL.to_vec()), 0..4)
}

fn observe_all(observed: &[ServerTrait]) -> ServerTraits {
    observed.iter().fold(ServerTraits::default(), |traits, observed| traits.with_trait(*observed))
}

prop_compose! {
    fn any_known_server()(flags in prop::option::of(any::<(bool, bool, bool, bool)>())) -> Option<KnownServer> {
        flags.map(|(uses_folder, stateful, ignores_offer, reads_roots)| {
            KnownServer { uses_folder, stateful, ignores_offer, reads_roots, ..PLAIN }
        })
    }
}

/// The rules that permit clients with different values of a part to share, written down a second time.
struct Permission {
    place: bool,
    offer: bool,
    roots: bool,
    session: bool,
}

fn permitted_differences(sample: &Sample, traits: &ServerTraits, known: Option<&KnownServer>) -> Permission {
    let is_always = sample.share == SharePolicy::Always;
    let is_new = sample.era == Some(Era::New);
    let knows = |fact: fn(&KnownServer) -> bool| known.is_some_and(fact);
    let is_free = sample.cwd == Some("/srv") || knows(|known| !known.uses_folder);
    let is_of_session = match sample.share {
        SharePolicy::Never => true,
        SharePolicy::Auto => knows(|known| known.stateful) || traits.asks && !is_new,
        SharePolicy::Always | SharePolicy::Project => false,
    };
    let ignores = traits.ignores_offer || knows(|known| known.ignores_offer);
    Permission {
        place: is_always
            || sample.share == SharePolicy::Auto && is_free && !sample.inherit_env && !is_of_session,
        offer: is_always || is_new || ignores && !traits.asks && !traits.varies,
        roots: is_always || is_new || !traits.reads_roots && !knows(|known| known.reads_roots),
        session: !is_of_session,
    }
}

/// Whether the values of each part are in the key: place, offer, roots, session.
fn present_parts(key: &SharedKey) -> [bool; 4] {
    [key.place.is_some(), key.offer.is_some(), key.roots.is_some(), key.session.is_some()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    // G8
    #[test]
    fn clients_with_a_difference_share_only_if_a_rule_permits_it(
        one in any_sample(), other in any_sample(), observed in any_observations(), known in any_known_server(),
    ) {
        let (traits, known) = (observe_all(&observed), known.as_ref());
        // Two clients with one entry, which may differ in its `share`.
        let (command, cwd, inherit_env) = one.entry_values();
        let other = Sample { command, cwd, inherit_env, ..other };
        if one.decide(&traits, known).key != other.decide(&traits, known).key {
            return Ok(());
        }
        for sample in [&one, &other] {
            let permitted = permitted_differences(sample, &traits, known);
            let same_place = (one.folder, one.variable) == (other.folder, other.variable);
            prop_assert!(same_place || permitted.place, "place");
            prop_assert!(one.offer == other.offer || permitted.offer, "offer");
            prop_assert!(one.roots == other.roots || permitted.roots, "roots");
            prop_assert!(one.session == other.session || permitted.session, "session");
        }
    }

    // G8
    #[test]
    fn different_entries_never_share(one in any_sample(), other in any_sample(), known in any_known_server()) {
        let keys = [&one, &other].map(|sample| sample.decide(&NO_TRAITS, known.as_ref()).key);
        let is_same_entry = one.entry_values() == other.entry_values();
        prop_assert!(keys[0] != keys[1] || is_same_entry);
    }

    // G8
    #[test]
    fn key_has_no_part_that_a_rule_permits_to_differ(
        sample in any_sample(), observed in any_observations(), known in any_known_server(),
    ) {
        let (traits, known) = (observe_all(&observed), known.as_ref());
        let Permission { place, offer, roots, session } = permitted_differences(&sample, &traits, known);
        let decision = sample.decide(&traits, known);
        prop_assert_eq!(present_parts(&decision.key), [!place, !offer, !roots, !session]);
    }

    // G8
    #[test]
    fn decision_is_deterministic_and_gives_one_reason_for_each_part(
        sample in any_sample(), observed in any_observations(), known in any_known_server(),
    ) {
        let traits = observe_all(&observed);
        let decision = sample.decide(&traits, known.as_ref());
        prop_assert_eq!(&decision, &sample.decide(&traits, known.as_ref()));
        let parts = [SharePart::Place, SharePart::Offer, SharePart::Roots, SharePart::Session];
        let reasons = parts.map(|part| decision.reasons.iter().filter(|reason| reason.part == part).count());
        prop_assert_eq!(reasons, present_parts(&decision.key).map(usize::from));
        prop_assert_eq!(decision.folder == StartFolder::Client, decision.key.place.is_some());
    }

    // G8
    #[test]
    fn another_trait_narrows_the_key_unless_the_server_ignores_the_offer(
        sample in any_sample(), observed in any_observations(), known in any_known_server(),
        added in prop::sample::select(ServerTrait::ALL.to_vec()),
    ) {
        let traits = observe_all(&observed);
        let before = sample.decide(&traits, known.as_ref()).key;
        let after = sample.decide(&traits.with_trait(added), known.as_ref()).key;
        let widens_offer = added == ServerTrait::IgnoresOffer;
        for (part, (was, is)) in present_parts(&before).into_iter().zip(present_parts(&after)).enumerate() {
            prop_assert!(is || !was || widens_offer && part == 1, "part {part}");
            prop_assert!(was == is || !widens_offer || part == 1, "part {part}");
        }
    }

    // G8
    #[test]
    fn traits_do_not_depend_on_the_order_of_observations(mut observed in any_observations()) {
        let traits = observe_all(&observed);
        observed.reverse();
        prop_assert_eq!(traits, observe_all(&observed));
        prop_assert!(!traits.ignores_offer || !traits.asks && !traits.varies);
    }
}
