//! A minimal SOCKS5 proxy (RFC 1928, RFC 1929) in the process of the test.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The behavior of a proxy towards its clients.
#[derive(Clone, Debug)]
pub enum SocksBehavior {
    /// Connects clients to this server, whatever address they request.
    HandOn(String),
    /// Replies that the server refused the connection.
    Refuse,
    /// Rejects every authentication method.
    Deny,
}

/// One request to the proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocksRequest {
    /// The user name and the password, separated by a colon.
    pub login: Option<String>,
    /// The requested server, with its port.
    pub server: String,
}

/// A running SOCKS5 proxy.
#[derive(Debug)]
pub struct SocksProxy {
    address: String,
    asked: Arc<Mutex<Vec<SocksRequest>>>,
}

impl SocksProxy {
    /// Starts a proxy.
    ///
    /// # Panics
    ///
    /// If no port can be bound.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot say anything else")]
    pub fn start(manner: SocksBehavior) -> Self {
        Self::listen(manner).expect("the proxy listens")
    }

    fn listen(manner: SocksBehavior) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let asked = Arc::<Mutex<Vec<SocksRequest>>>::default();
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                let (manner, noted) = (manner.clone(), Arc::clone(&noted));
                // An I/O error of one client does not affect the others.
                thread::spawn(move || serve_client(client, &manner, &noted).unwrap_or_default());
            }
        });
        Ok(Self { address, asked })
    }

    /// The address of the proxy, `127.0.0.1:<port>`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The requests received so far.
    pub fn received_requests(&self) -> Vec<SocksRequest> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve_client(
    mut client: TcpStream,
    manner: &SocksBehavior,
    noted: &Mutex<Vec<SocksRequest>>,
) -> io::Result<()> {
    let [_version, count] = read_array(&mut client)?;
    let methods = read_bytes(&mut client, count)?;
    let login = match (manner, methods.contains(&2)) {
        (SocksBehavior::Deny, _) => return client.write_all(&[5, 0xff]),
        (SocksBehavior::HandOn(_) | SocksBehavior::Refuse, true) => {
            client.write_all(&[5, 2])?;
            Some(read_login(&mut client)?)
        }
        (SocksBehavior::HandOn(_) | SocksBehavior::Refuse, false) => {
            client.write_all(&[5, 0])?;
            None
        }
    };
    let server = read_target(&mut client)?;
    noted.lock().unwrap_or_else(PoisonError::into_inner).push(SocksRequest { login, server });
    let server = match manner {
        SocksBehavior::HandOn(server) => TcpStream::connect(server)?,
        SocksBehavior::Refuse | SocksBehavior::Deny => return client.write_all(&reply_bytes(5)),
    };
    client.write_all(&reply_bytes(0))?;
    let (mut there, mut back) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        // The end of the server's connection ends the client's.
        io::copy(&mut back, &mut there).unwrap_or_default();
        there.shutdown(std::net::Shutdown::Both).unwrap_or_default();
    });
    io::copy(&mut client, &mut &server).map(drop)
}

fn read_login(client: &mut TcpStream) -> io::Result<String> {
    let [_version, length] = read_array(client)?;
    let name = read_bytes(client, length)?;
    let [length] = read_array(client)?;
    let password = read_bytes(client, length)?;
    client.write_all(&[1, 0])?;
    Ok(format!("{}:{}", String::from_utf8_lossy(&name), String::from_utf8_lossy(&password)))
}

fn read_target(client: &mut TcpStream) -> io::Result<String> {
    let [_version, _connect, _reserved, kind] = read_array(client)?;
    let host = match kind {
        1 => Ipv4Addr::from(read_array::<4>(client)?).to_string(),
        _ => {
            let [length] = read_array(client)?;
            String::from_utf8_lossy(&read_bytes(client, length)?).into_owned()
        }
    };
    let port = u16::from_be_bytes(read_array(client)?);
    Ok(format!("{host}:{port}"))
}

fn reply_bytes(code: u8) -> [u8; 10] {
    [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

fn read_array<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut taken = [0; N];
    client.read_exact(&mut taken)?;
    Ok(taken)
}

fn read_bytes(client: &mut TcpStream, count: u8) -> io::Result<Vec<u8>> {
    let mut taken = vec![0; usize::from(count)];
    client.read_exact(&mut taken)?;
    Ok(taken)
}
