//! What commands that list something have in common: servers are reached only if it is not remembered what they offer.

use mcparley::model::name::ServerName;
use mcparley::{Host, Loaded, Remembered, Server, Start};

use super::{Done, usable};
use crate::context::Context;
use crate::error::CommandError;
use crate::live;
use crate::out::Out;

/// Whose offer is wanted, and how new.
pub(super) struct Wanted<'a> {
    pub(super) server: Option<&'a str>,
    pub(super) refresh: bool,
}

/// What servers offer, as it is remembered or as they tell it now.
pub(super) enum Known<'k> {
    Remembered(&'k Remembered),
    Alive { host: &'k Host, servers: Vec<Server> },
}

impl Wanted<'_> {
    fn start(&self) -> Start {
        match (self.server.map(|server| vec![ServerName::new(server)]), self.refresh) {
            (None, true) => Start::All,
            (None, false) => Start::AsNeeded,
            (Some(servers), true) => Start::Only(servers),
            (Some(servers), false) => Start::Among(servers),
        }
    }

    /// The server that was named; it must be one that can be used.
    pub(super) fn usable(
        &self,
        loaded: &Loaded,
        servers: &[Server],
        out: &mut Out,
    ) -> Result<Option<ServerName>, CommandError> {
        let Some(name) = self.server else { return Ok(None) };
        let server = usable::named(loaded, servers, name, out)?;
        usable::usable(servers, &server, out)?;
        Ok(Some(server))
    }
}

impl Known<'_> {
    pub(super) fn servers(&self) -> &[Server] {
        match self {
            Self::Remembered(remembered) => &remembered.servers,
            Self::Alive { servers, .. } => servers,
        }
    }

    /// Asks whoever knows.
    pub(super) fn either<T>(
        &self,
        remembered: impl FnOnce(&Remembered) -> T,
        alive: impl FnOnce(&Host) -> T,
    ) -> T {
        match self {
            Self::Remembered(known) => remembered(known),
            Self::Alive { host, .. } => alive(host),
        }
    }
}

/// Finds out what is wanted, and shows it.
pub(super) fn run(
    wanted: &Wanted<'_>,
    context: &Context,
    loaded: &Loaded,
    out: &mut Out,
    show: impl FnOnce(&Known<'_>, &mut Out) -> Done,
) -> Done {
    let host = context.host(loaded.clone()).start_with(wanted.start());
    let host = if wanted.refresh { host } else { host.skip_known_failures() };
    // What is remembered needs no servers, and so nothing that they would need.
    if let Some(remembered) = host.remembered() {
        return show(&Known::Remembered(&remembered), out);
    }
    live::with_host(host, async |host| {
        if let Some(name) = wanted.server {
            usable::named(loaded, &host.servers(), name, out)?;
        }
        let servers = usable::settled(host, out).await;
        show(&Known::Alive { host, servers }, out)
    })
}
