//! Loop detection between gateways over HTTP.
//!
//! A process that serves clients over HTTP is a gateway, and its own requests name it in a header, together
//! with the gateways that are its clients. A gateway that finds itself in that header refuses the request:
//! otherwise an entry that leads back to the gateway, directly or through another one, would list the tools of
//! the gateway among its own, again and again.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley_platform::random::random_id;

/// The header with the gateways that a request comes from, separated by commas.
pub const GATEWAY_PATH: &str = "mcparley-gateway-path";

/// The maximum number of gateways that are remembered as clients.
const CLIENTS_MOST: usize = 64;

/// The path of this process, once it is a gateway.
static PATH: OnceLock<GatewayPath> = OnceLock::new();

/// The ids of this process and of the gateways that are its clients.
#[derive(Debug)]
struct GatewayPath {
    own: String,
    clients: Mutex<BTreeSet<String>>,
}

/// A request that comes from the gateway it was sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayLoop;

/// Marks this process as a gateway over HTTP.
pub fn begin_gateway() {
    PATH.get_or_init(GatewayPath::new);
}

/// Checks the header of a request to this gateway, and remembers the gateways in it.
///
/// # Errors
/// When the request comes from this gateway, directly or through another one.
pub fn accept_path(header: &str) -> Result<(), GatewayLoop> {
    PATH.get().map_or(Ok(()), |path| path.accept(header))
}

/// The value of the header for a request of this process; none if it is no gateway.
#[cfg(feature = "http")]
pub(crate) fn outbound_path() -> Option<reqwest::header::HeaderValue> {
    reqwest::header::HeaderValue::from_str(&PATH.get()?.to_header()).ok()
}

impl GatewayPath {
    fn new() -> Self {
        Self { own: random_id(), clients: Mutex::default() }
    }

    fn accept(&self, header: &str) -> Result<(), GatewayLoop> {
        let ids = || header.split(',').map(str::trim).filter(|id| !id.is_empty());
        if ids().any(|id| id == self.own) {
            return Err(GatewayLoop);
        }
        let is_id =
            |id: &&str| id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let mut clients = self.lock_clients();
        for id in ids().filter(is_id) {
            if clients.len() < CLIENTS_MOST {
                clients.insert(id.to_owned());
            }
        }
        Ok(())
    }

    fn to_header(&self) -> String {
        let clients = self.lock_clients();
        let mut header = self.own.clone();
        for client in clients.iter() {
            header.push(',');
            header.push_str(client);
        }
        header
    }

    fn lock_clients(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    //! Paths of gateways that lead back.
    use super::*;

    // C18 G1
    #[test]
    fn request_that_comes_from_the_gateway_itself_is_refused() {
        let (one, two, three) = (GatewayPath::new(), GatewayPath::new(), GatewayPath::new());
        assert_eq!(one.accept(&one.to_header()), Err(GatewayLoop));
        assert_eq!(two.accept(&one.to_header()), Ok(()));
        assert_eq!(three.accept(&two.to_header()), Ok(()));
        assert_eq!(one.accept(&three.to_header()), Err(GatewayLoop), "through two others");
        assert_eq!(three.accept(&one.to_header()), Ok(()), "two ways to one gateway are no loop");
        assert_eq!(one.accept("?,\u{fc},,"), Ok(()), "anybody can send the header");
        assert_eq!(one.to_header(), one.own);
    }
}
