//! The cells of the matrix as data: which exist, and what the client of each one sees.

use std::fmt;

/// A revision of the protocol; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    R2024November,
    R2025March,
    R2025June,
    R2025November,
    R2026July,
}

/// The link between a client and the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Stdio,
    /// The HTTP transport of the revision: HTTP+SSE for 2024-11-05, else Streamable HTTP.
    Http,
}

/// The link between the gateway and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    /// The HTTP transport of the revision.
    Http,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    Call,
    Progress,
    Form,
    Url,
    Sampling,
    Roots,
    Cancel,
    ListChange,
    Subscription,
    Log,
    Task,
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) client: Revision,
    pub(crate) server: Revision,
    pub(crate) down: Door,
    pub(crate) up: Transport,
    /// Whether the gateway serves this one server unchanged.
    pub(crate) is_transparent: bool,
    pub(crate) feature: Feature,
}

/// What a client sees of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Result,
    ProgressOfRequest,
    /// A request of the server, during the call.
    Request,
    /// A request outside of calls, whose answer holds for the session.
    SessionRequest,
    /// `input_required`, with keys that the gateway counts.
    CountedKeys,
    /// `input_required`, with the keys of the server.
    ServerKeys,
    /// No answer; the server has stopped.
    Canceled,
    Notification,
    /// A notification on the stream of `subscriptions/listen`.
    SubscribedNotification,
    /// Log messages by the level of `logging/setLevel`.
    SessionLog,
    /// Log messages by the level in the request.
    RequestLog,
    /// A task of 2025-11-25.
    OldTask,
    /// A task of the extension.
    ExtensionTask,
    /// The result, after the gateway has followed the task.
    FollowedTask,
}

impl Revision {
    pub(crate) const ALL: [Self; 5] =
        [Self::R2024November, Self::R2025March, Self::R2025June, Self::R2025November, Self::R2026July];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::R2024November => "2024-11-05",
            Self::R2025March => "2025-03-26",
            Self::R2025June => "2025-06-18",
            Self::R2025November => "2025-11-25",
            Self::R2026July => "2026-07-28",
        }
    }

    pub(crate) fn is_new(self) -> bool {
        self == Self::R2026July
    }
}

impl Feature {
    pub(crate) const ALL: [Self; 11] = [
        Self::Call,
        Self::Progress,
        Self::Form,
        Self::Url,
        Self::Sampling,
        Self::Roots,
        Self::Cancel,
        Self::ListChange,
        Self::Subscription,
        Self::Log,
        Self::Task,
    ];

    /// The revision that introduced the feature, for servers.
    pub(crate) fn server_since(self) -> Revision {
        match self {
            Self::Form => Revision::R2025June,
            Self::Url | Self::Task => Revision::R2025November,
            _ => Revision::R2024November,
        }
    }

    /// The revision from which a client takes part. The gateway follows tasks for clients without tasks.
    pub(crate) fn client_since(self) -> Revision {
        match self {
            Self::Task => Revision::R2024November,
            other => other.server_since(),
        }
    }
}

impl Cell {
    /// The product of all axes.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let features = Feature::ALL.into_iter();
        features.flat_map(|feature| Revision::ALL.map(|client| (feature, client))).flat_map(with_servers)
    }

    /// Whether both sides have the feature.
    pub(crate) fn exists(&self) -> bool {
        self.client >= self.feature.client_since() && self.server >= self.feature.server_since()
    }

    /// What the client must see.
    pub(crate) fn expect(&self) -> Sight {
        match (self.feature, self.client.is_new(), self.server.is_new()) {
            (Feature::Call, _, _) => Sight::Result,
            (Feature::Progress, _, _) => Sight::ProgressOfRequest,
            (Feature::Roots, false, _) => Sight::SessionRequest,
            (Feature::Form | Feature::Url | Feature::Sampling, false, _) => Sight::Request,
            (Feature::Form | Feature::Url | Feature::Sampling | Feature::Roots, true, false) => {
                Sight::CountedKeys
            }
            (Feature::Form | Feature::Url | Feature::Sampling | Feature::Roots, true, true) => {
                Sight::ServerKeys
            }
            (Feature::Cancel, _, _) => Sight::Canceled,
            (Feature::ListChange | Feature::Subscription, false, _) => Sight::Notification,
            (Feature::ListChange | Feature::Subscription, true, _) => Sight::SubscribedNotification,
            (Feature::Log, false, _) => Sight::SessionLog,
            (Feature::Log, true, _) => Sight::RequestLog,
            (Feature::Task, true, _) => Sight::ExtensionTask,
            (Feature::Task, false, false) if self.client == Revision::R2025November => Sight::OldTask,
            (Feature::Task, false, _) => Sight::FollowedTask,
        }
    }
}

fn with_servers((feature, client): (Feature, Revision)) -> impl Iterator<Item = Cell> {
    Revision::ALL.into_iter().flat_map(move |server| {
        [Door::Stdio, Door::Http].into_iter().flat_map(move |down| {
            [Transport::Stdio, Transport::Http].into_iter().flat_map(move |up| {
                [false, true].map(|is_transparent| Cell { client, server, down, up, is_transparent, feature })
            })
        })
    })
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, server, down, up, is_transparent, feature } = self;
        let (client, server) = (client.as_str(), server.as_str());
        let mode = if *is_transparent { "one server" } else { "all servers" };
        write!(f, "{feature:?}, {client} client over {down:?}, {server} server over {up:?}, {mode}")
    }
}
