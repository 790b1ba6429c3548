//! Decides which clients may use one process of a local server.
//!
//! Pure on purpose: a process that serves the wrong client reads another project's files or answers another
//! user's question, so every rule is a row of a table test. The decision is a key with a reason for each of
//! its parts; clients with equal keys share a process. Starting and ending processes is done elsewhere.
//!
//! | topic | module |
//! |---|---|
//! | folder and environment of a client | [`place`] |
//! | the folder that a shared process starts in | [`start_folder`] |
//! | reasons, in words for people | [`reason`] |
//! | traits of servers that were observed, kept on disk | [`traits`] |
//! | traits that are known from the documentation of a server | [`known`] |
//! | why there are several copies of one server | [`copies`] |

pub mod copies;
pub mod known;
pub mod place;
pub mod reason;
pub mod start_folder;
pub mod traits;

#[cfg(test)]
mod tests;

use std::path::Path;

use mcparley_model::config::{Era, ServerConfig, SharePolicy, TransportConfig};
use mcparley_model::secret::Secret;
use mcparley_model::signature::Signature;
use mcparley_platform::process::ProgramLaunch;

use crate::client_offer::ClientOffer;
use crate::pool_key::RootsHash;
use known::{KnownServer, find_known_server};
use place::PlaceHash;
use reason::{ShareCause, SharePart, ShareReason};
use start_folder::StartFolder;
use traits::{ServerTraits, TraitStore};

/// The part of a local server's entry that decides about sharing.
#[derive(Clone, Copy, Debug)]
pub struct SharedEntry<'e> {
    /// The signature of the expanded entry.
    pub signature: Signature,
    /// The program.
    pub program: &'e str,
    /// The program's arguments.
    pub args: &'e [Secret<String>],
    /// Whether the entry sets an absolute `cwd`, so that the client's folder does not matter.
    pub has_own_folder: bool,
    /// Whether the server gets the whole environment of its client (`inheritEnv`).
    pub inherits_env: bool,
    /// The `share` of the entry.
    pub share: SharePolicy,
}

impl<'e> SharedEntry<'e> {
    /// The sharing part of an entry; `None` unless it is a local server.
    #[must_use]
    pub fn from_config(config: &'e ServerConfig) -> Option<Self> {
        let TransportConfig::Stdio(stdio) = &config.transport else { return None };
        Some(Self {
            signature: Signature::from_config(config),
            program: &stdio.command,
            args: &stdio.args,
            has_own_folder: stdio.cwd.as_ref().is_some_and(|cwd| Path::new(cwd).is_absolute()),
            inherits_env: stdio.inherit_env,
            share: config.share,
        })
    }

    /// The known server that the command line starts, if it is in the table.
    #[must_use]
    pub fn known_server(&self) -> Option<KnownServer> {
        let args = self.args.iter().map(|argument| argument.expose().as_str());
        find_known_server(&std::iter::once(self.program).chain(args).collect::<Vec<_>>())
    }
}

/// The request of one client for a local server.
#[derive(Clone, Copy, Debug)]
pub struct ShareRequest<'r> {
    /// The server's entry.
    pub entry: SharedEntry<'r>,
    /// Folder and environment that a process of this client would get.
    pub place: PlaceHash,
    /// The capabilities of the client.
    pub offer: ClientOffer,
    /// The roots that the server would get from this client.
    pub roots: RootsHash,
    /// The id of the client's session, unique among all clients.
    pub session: &'r str,
    /// The protocol era of the server, if it is known.
    pub era: Option<Era>,
}

impl ShareRequest<'_> {
    /// Whether the server is known to speak the new era, in which capabilities, roots and answers travel with
    /// each request. An unknown era counts as old.
    fn is_new_era(&self) -> bool {
        match self.era {
            Some(Era::New) => true,
            Some(Era::Old | Era::Auto) | None => false,
        }
    }
}

/// The identity of a shared process: clients with equal keys use the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedKey {
    /// The signature of the server's expanded entry.
    pub signature: Signature,
    /// Folder and environment, if the server may use them.
    pub place: Option<PlaceHash>,
    /// The capabilities of the client, if the server may depend on them.
    pub offer: Option<ClientOffer>,
    /// The roots of the client, if the server reads them.
    pub roots: Option<RootsHash>,
    /// The session, if the process belongs to one session alone.
    pub session: Option<Box<str>>,
}

/// The key under which a client gets its process, and the reasons for its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareDecision {
    /// The key.
    pub key: SharedKey,
    /// One reason for each part of the key except the signature.
    pub reasons: Vec<ShareReason>,
    /// The folder to start the process in, if there is none yet.
    pub folder: StartFolder,
}

/// Decides with which other clients a client shares the process of a server.
///
/// | part of the key | is in it |
/// |---|---|
/// | signature | always |
/// | place | unless the entry says `share: always`, has an absolute `cwd`, or starts a server that is known not to use its folder; with `inheritEnv` only `share: always` leaves it out |
/// | offer | for a server of the old era, unless it is known to ignore the capabilities of its client |
/// | roots | for a server of the old era that reads roots |
/// | session | with `share: never`, for a server that keeps state for one session, and for a server of the old era that asks its client |
///
/// `share: always` leaves only the signature; `share: project` requires the place and never the session. A
/// process of one session also has the place in its key, so that it runs exactly as without sharing.
///
/// The rule for the offer is deliberately stricter than "only after the server was seen to vary": a server of
/// the old era sees the capabilities in `initialize` and may list other tools at once, so the first client
/// with other capabilities would get the wrong list before the difference could be observed.
///
/// A server of the new era gets capabilities and roots with each request, and its questions are answers to a
/// request. So none of offer, roots and questions keeps its clients apart.
#[must_use]
pub fn decide_share(
    request: &ShareRequest<'_>,
    traits: &ServerTraits,
    known: Option<&KnownServer>,
) -> ShareDecision {
    let session = session_cause(request, traits, known);
    let place = place_cause(request, known, session.is_some());
    let offer = offer_cause(request, traits, known);
    let roots = roots_cause(request, traits, known);
    let key = SharedKey {
        signature: request.entry.signature,
        place: place.map(|_| request.place),
        offer: offer.map(|_| request.offer),
        roots: roots.map(|_| request.roots),
        session: session.map(|_| request.session.into()),
    };
    let parts = [
        (SharePart::Place, place),
        (SharePart::Offer, offer),
        (SharePart::Roots, roots),
        (SharePart::Session, session),
    ];
    let reasons = parts.into_iter().filter_map(|(part, cause)| Some(ShareReason { part, cause: cause? }));
    let folder = match (place, request.entry.has_own_folder) {
        (Some(_), _) => StartFolder::Client,
        (None, true) => StartFolder::Entry,
        (None, false) => StartFolder::Empty,
    };
    ShareDecision { key, reasons: reasons.collect(), folder }
}

/// The reasons why clients of the server of this entry may get processes of their own; empty if all share one, and for
/// an entry that is not a program.
#[must_use]
pub fn explain_sharing(config: &ServerConfig, traits: &TraitStore) -> Vec<ShareReason> {
    let Some(entry) = SharedEntry::from_config(config) else { return Vec::new() };
    let launch =
        ProgramLaunch { program: entry.program.into(), args: Vec::new(), env: Vec::new(), cwd: None };
    // The reasons follow from the entry and its traits. The values of a client are the rest of the key.
    let request = ShareRequest {
        place: PlaceHash::from_launch(&launch, |_| false),
        offer: ClientOffer::default(),
        roots: RootsHash::from_roots(None),
        session: "",
        era: Some(config.era),
        entry,
    };
    decide_share(&request, &traits.traits_of(&entry.signature), entry.known_server().as_ref()).reasons
}

/// The cause for which folder and environment are in the key.
fn place_cause(
    request: &ShareRequest<'_>,
    known: Option<&KnownServer>,
    is_of_one_session: bool,
) -> Option<ShareCause> {
    let entry = &request.entry;
    match entry.share {
        SharePolicy::Always => None,
        SharePolicy::Project => Some(ShareCause::ProjectPolicy),
        SharePolicy::Auto | SharePolicy::Never if is_of_one_session => Some(ShareCause::SessionProcess),
        // The folder is not all that such a server gets from its client.
        SharePolicy::Auto | SharePolicy::Never if entry.inherits_env => {
            Some(ShareCause::InheritedEnvironment)
        }
        SharePolicy::Auto | SharePolicy::Never => {
            let is_folder_free = entry.has_own_folder || known.is_some_and(|known| !known.uses_folder);
            (!is_folder_free).then_some(ShareCause::ProjectFolder)
        }
    }
}

/// The cause for which the client's capabilities are in the key.
fn offer_cause(
    request: &ShareRequest<'_>,
    traits: &ServerTraits,
    known: Option<&KnownServer>,
) -> Option<ShareCause> {
    if request.entry.share == SharePolicy::Always || request.is_new_era() {
        return None;
    }
    // An observation wins over the table.
    if traits.asks {
        return Some(ShareCause::AskingServer);
    }
    if traits.varies {
        return Some(ShareCause::ObservedVariation);
    }
    let is_ignored = traits.ignores_offer || known.is_some_and(|known| known.ignores_offer);
    (!is_ignored).then_some(ShareCause::PossibleVariation)
}

/// The cause for which the client's roots are in the key.
fn roots_cause(
    request: &ShareRequest<'_>,
    traits: &ServerTraits,
    known: Option<&KnownServer>,
) -> Option<ShareCause> {
    let is_possible = request.entry.share != SharePolicy::Always && !request.is_new_era();
    let reads_roots = traits.reads_roots || known.is_some_and(|known| known.reads_roots);
    (is_possible && reads_roots).then_some(ShareCause::RootsReader)
}

/// The cause for which the process belongs to one session.
fn session_cause(
    request: &ShareRequest<'_>,
    traits: &ServerTraits,
    known: Option<&KnownServer>,
) -> Option<ShareCause> {
    match request.entry.share {
        SharePolicy::Always | SharePolicy::Project => None,
        SharePolicy::Never => Some(ShareCause::NeverPolicy),
        SharePolicy::Auto => match known.filter(|known| known.stateful) {
            Some(known) => Some(ShareCause::KnownState(known.name)),
            None => (traits.asks && !request.is_new_era()).then_some(ShareCause::UnattributedQuestions),
        },
    }
}
