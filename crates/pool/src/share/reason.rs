//! Reasons for the parts of a shared key, in words for people.

use std::fmt;

/// A part of a shared key besides the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharePart {
    /// Folder and environment.
    Place,
    /// The capabilities of the client.
    Offer,
    /// The roots of the client.
    Roots,
    /// The session.
    Session,
}

/// The reason for one part of a shared key. It displays as a sentence about the server, without its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareReason {
    /// The part.
    pub part: SharePart,
    /// The cause for which the part is in the key.
    pub cause: ShareCause,
}

/// The cause for which a part is in a shared key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareCause {
    /// The server runs in the project's folder, and may use it.
    ProjectFolder,
    /// The entry says `share: project`.
    ProjectPolicy,
    /// The entry sets `inheritEnv`.
    InheritedEnvironment,
    /// The process belongs to one session, so it runs where that session is.
    SessionProcess,
    /// A server of the old era may list other tools to clients with other capabilities.
    PossibleVariation,
    /// The server was observed to list other tools to clients with other capabilities.
    ObservedVariation,
    /// The server asks its client, and must know if the client can answer.
    AskingServer,
    /// The server reads the roots of its client.
    RootsReader,
    /// The entry says `share: never`.
    NeverPolicy,
    /// The server of this name is known to keep state that belongs to one session.
    KnownState(&'static str),
    /// The server asks its client on a channel that does not say which session a question belongs to.
    UnattributedQuestions,
}

impl fmt::Display for ShareReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl fmt::Display for ShareCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::ProjectFolder => {
                "runs in the project's folder; `share: always` if it does not use the folder"
            }
            Self::ProjectPolicy => "has `share: project` in its entry",
            Self::InheritedEnvironment => {
                "gets the whole environment of its client (`inheritEnv`); `share: always` if that makes no \
                 difference"
            }
            Self::SessionProcess => "belongs to one session and runs in its folder",
            Self::PossibleVariation => {
                "may list other tools to clients with other capabilities; `share: always` if it does not"
            }
            Self::ObservedVariation => "lists other tools to clients with other capabilities",
            Self::AskingServer => "asks its client, so it has to know the capabilities of that client",
            Self::RootsReader => "reads the roots of its client",
            Self::NeverPolicy => "has `share: never` in its entry",
            Self::KnownState(name) => {
                return write!(
                    f,
                    "is known to keep state for one session ({name}); `share: project` to share it anyway"
                );
            }
            Self::UnattributedQuestions => {
                "asks its client, and its questions do not say which session they belong to"
            }
        };
        f.write_str(text)
    }
}
