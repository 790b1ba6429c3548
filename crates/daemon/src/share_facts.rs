//! The facts about one client that decide which clients share a server with it.

use std::path::Path;

use mcparley::model::config::{Era, SharePolicy};
use mcparley::model::secret::Secret;
use mcparley::model::signature::Signature;
use mcparley::pool::attach::protocol::{AttachRequest, COMMAND_SESSION};
use mcparley::pool::client_offer::ClientOffer;
use mcparley::pool::pool_key::RootsHash;
use mcparley::pool::roots::Root;
use mcparley::pool::share::place::PlaceHash;
use mcparley::pool::share::traits::ServerTraits;
use mcparley::pool::share::{self, ShareDecision, ShareRequest, SharedEntry};
use mcparley_gateway::offer_from_capabilities;

/// The facts about one client and the server it wants, without its environment.
#[derive(Clone, Debug)]
pub(crate) struct ShareFacts {
    pub(crate) signature: Signature,
    pub(crate) offer: ClientOffer,
    /// The roots of the client.
    pub(crate) roots: Vec<Root>,
    pub(crate) roots_hash: RootsHash,
    program: String,
    args: Vec<Secret<String>>,
    has_own_folder: bool,
    inherits_env: bool,
    share: SharePolicy,
    place: PlaceHash,
    session: String,
    era: Era,
}

impl ShareFacts {
    /// The facts of a request; `None` if it cannot be understood.
    pub(crate) fn from_request(request: &AttachRequest) -> Option<Self> {
        let offer = offer_from_capabilities(&request.capabilities);
        let mut words = request.launch.command_line().map(str::to_owned);
        let program = words.next()?;
        let args = words.map(Secret::new).collect();
        let launch = request.launch.clone().into_launch();
        Some(Self {
            signature: Signature::from_hex(&request.signature)?,
            offer,
            roots: request.roots.clone(),
            roots_hash: RootsHash::from_roots(offer.roots.then_some(request.roots.as_slice())),
            program,
            args,
            has_own_folder: request.has_own_folder,
            inherits_env: request.inherits_env,
            share: SharePolicy::ALL.into_iter().find(|share| share.as_str() == request.share)?,
            place: PlaceHash::from_launch(&launch, Path::is_dir),
            session: request.session.clone(),
            era: Era::ALL.into_iter().find(|era| era.as_str() == request.era)?,
        })
    }

    /// Whether the next command of the project goes on with the client's session.
    pub(crate) fn has_lasting_session(&self) -> bool {
        self.session.starts_with(COMMAND_SESSION)
    }

    /// Decides which clients share the server with this one, if the server has these traits.
    pub(crate) fn decide_share(&self, traits: &ServerTraits) -> ShareDecision {
        let entry = SharedEntry {
            signature: self.signature,
            program: &self.program,
            args: &self.args,
            has_own_folder: self.has_own_folder,
            inherits_env: self.inherits_env,
            share: self.share,
        };
        let known = entry.known_server();
        let request = ShareRequest {
            entry,
            place: self.place,
            offer: self.offer,
            roots: self.roots_hash,
            session: &self.session,
            era: Some(self.era),
        };
        share::decide_share(&request, traits, known.as_ref())
    }
}
