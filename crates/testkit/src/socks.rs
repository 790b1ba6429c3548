//! A SOCKS5 proxy (RFC 1928, RFC 1929) in the process of the test: as much of it as a client needs.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What a proxy does with those that ask.
#[derive(Clone, Debug)]
pub enum SocksManner {
    /// Brings them to this server, whichever they name.
    HandOn(String),
    /// Says that the server refuses.
    Refuse,
    /// Lets nobody in.
    Deny,
}

/// What a proxy was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocksAsked {
    /// The name and the password, with a colon between.
    pub login: Option<String>,
    /// The server, with its port.
    pub server: String,
}

/// A running proxy.
#[derive(Debug)]
pub struct SocksProxy {
    address: String,
    asked: Arc<Mutex<Vec<SocksAsked>>>,
}

impl SocksProxy {
    /// Starts a proxy.
    ///
    /// # Panics
    ///
    /// If there is no port to listen at.
    #[expect(clippy::expect_used, reason = "a test without its proxy cannot say anything else")]
    pub fn start(manner: SocksManner) -> Self {
        Self::listen(manner).expect("the proxy listens")
    }

    fn listen(manner: SocksManner) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let asked = Arc::<Mutex<Vec<SocksAsked>>>::default();
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                let (manner, noted) = (manner.clone(), Arc::clone(&noted));
                // A client that breaks off concerns nobody else.
                thread::spawn(move || serve(client, &manner, &noted).unwrap_or_default());
            }
        });
        Ok(Self { address, asked })
    }

    /// `127.0.0.1:<port>`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<SocksAsked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(mut client: TcpStream, manner: &SocksManner, noted: &Mutex<Vec<SocksAsked>>) -> io::Result<()> {
    let [_version, count] = take(&mut client)?;
    let methods = bytes(&mut client, count)?;
    let login = match (manner, methods.contains(&2)) {
        (SocksManner::Deny, _) => return client.write_all(&[5, 0xff]),
        (SocksManner::HandOn(_) | SocksManner::Refuse, true) => {
            client.write_all(&[5, 2])?;
            Some(login(&mut client)?)
        }
        (SocksManner::HandOn(_) | SocksManner::Refuse, false) => {
            client.write_all(&[5, 0])?;
            None
        }
    };
    let server = wanted(&mut client)?;
    noted.lock().unwrap_or_else(PoisonError::into_inner).push(SocksAsked { login, server });
    let server = match manner {
        SocksManner::HandOn(server) => TcpStream::connect(server)?,
        SocksManner::Refuse | SocksManner::Deny => return client.write_all(&reply(5)),
    };
    client.write_all(&reply(0))?;
    let (mut there, mut back) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        // Its end is the client's end.
        io::copy(&mut back, &mut there).unwrap_or_default();
        there.shutdown(std::net::Shutdown::Both).unwrap_or_default();
    });
    io::copy(&mut client, &mut &server).map(drop)
}

fn login(client: &mut TcpStream) -> io::Result<String> {
    let [_version, length] = take(client)?;
    let name = bytes(client, length)?;
    let [length] = take(client)?;
    let password = bytes(client, length)?;
    client.write_all(&[1, 0])?;
    Ok(format!("{}:{}", String::from_utf8_lossy(&name), String::from_utf8_lossy(&password)))
}

fn wanted(client: &mut TcpStream) -> io::Result<String> {
    let [_version, _connect, _reserved, kind] = take(client)?;
    let host = match kind {
        1 => Ipv4Addr::from(take::<4>(client)?).to_string(),
        _ => {
            let [length] = take(client)?;
            String::from_utf8_lossy(&bytes(client, length)?).into_owned()
        }
    };
    let port = u16::from_be_bytes(take(client)?);
    Ok(format!("{host}:{port}"))
}

fn reply(code: u8) -> [u8; 10] {
    [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

fn take<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut taken = [0; N];
    client.read_exact(&mut taken)?;
    Ok(taken)
}

fn bytes(client: &mut TcpStream, count: u8) -> io::Result<Vec<u8>> {
    let mut taken = vec![0; usize::from(count)];
    client.read_exact(&mut taken)?;
    Ok(taken)
}
