//! The page on a port of this machine, as `mcparley ui` serves it: with a token that is valid once, until it is
//! stopped or no browser was connected for some time.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcparley::Host;
use mcparley::catalog::Budget;
use mcparley_door::{
    DoorError, DoorListener, DoorOptions, Doors, GeneratedToken, OneTimeToken, PAGE_PATH, TokenFileError,
    TokenPolicy,
};
use mcparley_gateway::control::serve_control;
use mcparley_gateway::{Gateway, Seal, SealKeyError};

use crate::page::UiPage;
use crate::page_state::PageOptions;

/// The page of a host on this machine only.
#[derive(Debug)]
pub struct LocalPage {
    page: UiPage,
    gateway: Gateway,
    doors: Doors,
    address: SocketAddr,
    token: GeneratedToken,
    control_folder: PathBuf,
}

/// The reason why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LocalPageError {
    /// The port cannot be used.
    #[error(transparent)]
    Listener(DoorError),
    /// There is no token.
    #[error(transparent)]
    Token(TokenFileError),
    /// There is no key for session ids.
    #[error(transparent)]
    Seal(SealKeyError),
}

impl LocalPage {
    /// Opens the page on a port of this machine; port 0 takes a free one. The host was prepared by
    /// [`Gateway::offer_questions`].
    ///
    /// # Errors
    /// A [`LocalPageError`].
    pub async fn open(host: &Host, options: PageOptions, port: u16) -> Result<Self, LocalPageError> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = DoorListener::bind_tcp(wanted, false).await.map_err(LocalPageError::Listener)?;
        let address = listener.address().unwrap_or(wanted);
        let (once, token) = OneTimeToken::generate().map_err(LocalPageError::Token)?;
        let gateway = Gateway::new(host.clone(), Budget::without_limit());
        let control_folder = options.control_folder.clone();
        let page = UiPage::new(host, &gateway, options);
        let seal = Seal::in_memory().map_err(LocalPageError::Seal)?;
        let options = DoorOptions {
            has_mcp: false,
            page: Some(Arc::new(page.clone())),
            ..DoorOptions::new(TokenPolicy::Once(once), seal)
        };
        let doors = Doors::new(&gateway, options, vec![listener]);
        Ok(Self { page, gateway, doors, address, token, control_folder })
    }

    /// The address for the browser. The token is in its fragment, which is never sent in a request line.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}{PAGE_PATH}#token={}", self.address, self.token.as_str())
    }

    /// Serves the page until `stop` resolves, or until no browser was connected for the time `idle`. Other
    /// processes of the user can answer its questions too, with `mcparley pending`.
    pub async fn serve_until(self, stop: impl Future<Output = ()>, idle: Duration) {
        let page = self.page;
        let stopped = async {
            tokio::select! {
                () = stop => {}
                () = page.wait_until_idle(idle) => {}
            }
        };
        let control = async {
            // Without the socket the page works, and only it can answer its questions.
            if serve_control(&self.gateway, self.control_folder).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = self.doors.serve_until(stopped) => {}
            () = control => {}
        }
    }
}
