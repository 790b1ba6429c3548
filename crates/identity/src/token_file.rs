//! Bearer tokens: a private file with one `name:token` per line, created with a random token if missing.
//!
//! Only hashes are kept in memory, and they are compared in constant time.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::limits::DOOR_TOKEN_FILE_BYTES;
use mcparley_platform::file::{
    Creation, FileReadError, FileUpdateError, SymlinkPolicy, read_private, read_text, update_file,
};
use mcparley_pool::principal::ClientIdentity;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The interval at which the file is checked for changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The name of a token without a name.
const DEFAULT_NAME: &str = "default";
/// The principal of the token that is for the web page only.
const PAGE_PRINCIPAL: &str = "token:ui";
/// The length of a generated token.
const TOKEN_BYTES: usize = 32;

/// The authentication of a door.
#[derive(Debug)]
pub enum TokenPolicy {
    /// Every client that can connect is accepted.
    Open,
    /// A client needs a token of a file.
    File(TokenFile),
    /// One client needs this token, once.
    Once(OneTimeToken),
    /// A client needs a token of the issuer.
    Issuer,
}

/// A token that is accepted once, then never again. Only its hash is kept.
#[derive(Debug)]
pub struct OneTimeToken(Mutex<Option<[u8; 32]>>);

impl OneTimeToken {
    /// Generates a token; the second value is to be shown to the user.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn generate() -> Result<(Self, GeneratedToken), TokenFileError> {
        let token = generate_token()?;
        Ok((Self(Mutex::new(Some(hash_token(&token)))), token))
    }

    /// Whether this is the token, at its first use.
    fn accept_token(&self, token: &str) -> bool {
        let hash = hash_token(token);
        let mut unused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = unused.is_some_and(|known| verify_slices_are_equal(&known, &hash).is_ok());
        if is_right {
            *unused = None;
        }
        is_right
    }
}

/// A file of tokens, read again when it changes.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    access: TokenFileAccess,
    state: Mutex<TokenState>,
    /// Whether there has been more than one principal; never reset, so that none gets the sign-ins of another.
    has_several: Arc<AtomicBool>,
}

/// The access to a token file that is demanded of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenFileAccess {
    /// Only this user may read it.
    Private,
    /// The group may read it too.
    Credential,
}

#[derive(Debug)]
struct TokenState {
    tokens: Arc<[NamedToken]>,
    /// The file that was read; `None` if there was none.
    mark: Option<FileMark>,
    checked: Instant,
}

/// The file's inode and size, and the time of its last change in seconds and nanoseconds, which a change of its mode counts to.
type FileMark = (u64, u64, i64, i64);

#[derive(Debug)]
struct NamedToken {
    identity: Arc<ClientIdentity>,
    hash: [u8; 32],
}

/// A token that was generated, to be shown once.
pub type GeneratedToken = Zeroizing<String>;

/// Error of a token file.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FileReadError),
    /// The file cannot be written.
    #[error("cannot write the token file: {0}")]
    Write(FileUpdateError<std::convert::Infallible>),
    /// Other users can read or change the file.
    #[error("`{}` is accessible to other users", .0.display())]
    OpenCredential(PathBuf),
    /// The file holds no token.
    #[error("`{}` holds no token", .0.display())]
    Empty(PathBuf),
}

impl TokenFile {
    /// Opens a token file. If it is missing, it is created with a random token, which is returned.
    ///
    /// # Errors
    /// Other users can read the file, it holds no token, or it cannot be written.
    pub fn open(path: &Path) -> Result<(Self, Option<GeneratedToken>), TokenFileError> {
        let mut generated = None;
        if read_private(path, DOOR_TOKEN_FILE_BYTES, SymlinkPolicy::Follow)?.is_none() {
            let token = generate_token()?;
            let written = update_file(path, Creation::PRIVATE, DOOR_TOKEN_FILE_BYTES, |old| {
                Ok(old.map_or_else(|| format!("{DEFAULT_NAME}:{}\n", token.as_str()), str::to_owned))
            });
            written.map_err(TokenFileError::Write)?;
            generated = Some(token);
        }
        Ok((Self::read_file(path, TokenFileAccess::Private)?, generated))
    }

    /// Opens a token file below `$CREDENTIALS_DIRECTORY`, which systemd lets the service read only: its file may belong to
    /// root and be readable for the group.
    ///
    /// # Errors
    /// The file is missing, other users can access it, or it holds no token.
    pub fn open_credential(path: &Path) -> Result<Self, TokenFileError> {
        Self::read_file(path, TokenFileAccess::Credential)
    }

    fn read_file(path: &Path, access: TokenFileAccess) -> Result<Self, TokenFileError> {
        let state = read_tokens(path, access)?;
        let has_several = Arc::new(AtomicBool::new(state.has_several()));
        Ok(Self { path: path.to_owned(), access, state: Mutex::new(state), has_several })
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The current tokens.
    fn tokens(&self) -> Arc<[NamedToken]> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.checked.elapsed() >= CHECK_INTERVAL {
            state.checked = Instant::now();
            let mark = file_mark(&self.path);
            if mark != state.mark {
                *state = read_tokens(&self.path, self.access).unwrap_or_else(|error| {
                    tracing::warn!(path = %self.path.display(), %error, "the token file admits no client");
                    TokenState { tokens: Arc::from([]), mark, checked: Instant::now() }
                });
                if state.has_several() {
                    self.has_several.store(true, Ordering::Relaxed);
                }
            }
        }
        Arc::clone(&state.tokens)
    }
}

impl TokenPolicy {
    /// Whether no token is needed.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    /// Whether there is more than one principal, now or later.
    pub fn has_several_principals(&self) -> Arc<AtomicBool> {
        match self {
            Self::File(file) => Arc::clone(&file.has_several),
            Self::Open | Self::Once(_) | Self::Issuer => Arc::default(),
        }
    }

    /// Whether this account may open the web page: the token named `ui`, if there is one, else every token of the
    /// file. An agent that has a token for MCP must not answer its own questions on the page, and the clients of
    /// an issuer not those of others.
    pub fn may_open_page(&self, account: &str) -> bool {
        let Self::File(file) = self else { return !account.starts_with("jwt:") };
        let has_own = file.tokens().iter().any(|named| &*named.identity.account == PAGE_PRINCIPAL);
        account == PAGE_PRINCIPAL || (!has_own && !account.starts_with("jwt:"))
    }

    /// The account of a token. Takes the same time for every wrong token.
    pub fn find_account(&self, token: &str) -> Option<Arc<ClientIdentity>> {
        let file = match self {
            Self::Open | Self::Issuer => return None,
            Self::Once(once) => {
                return once.accept_token(token).then(|| Arc::new(ClientIdentity::new("token:once")));
            }
            Self::File(file) => file,
        };
        let hash = hash_token(token);
        let mut found = None;
        for named in file.tokens().iter() {
            if verify_slices_are_equal(&named.hash, &hash).is_ok() {
                found = Some(Arc::clone(&named.identity));
            }
        }
        found
    }
}

impl TokenState {
    /// Whether there is more than one principal. The token of the web page is that of another one's user.
    fn has_several(&self) -> bool {
        let mut names =
            self.tokens.iter().map(|named| &named.identity.account).filter(|name| &***name != PAGE_PRINCIPAL);
        let first = names.next();
        names.any(|name| Some(name) != first)
    }
}

fn read_tokens(path: &Path, access: TokenFileAccess) -> Result<TokenState, TokenFileError> {
    // Before the text: a change in between is read again.
    let mark = file_mark(path);
    let text = match access {
        TokenFileAccess::Private => {
            read_private(path, DOOR_TOKEN_FILE_BYTES, SymlinkPolicy::Follow)?.map(|file| file.text)
        }
        TokenFileAccess::Credential => read_credential(path)?,
    };
    let text = Zeroizing::new(text.ok_or_else(|| TokenFileError::Empty(path.to_owned()))?);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Arc<[NamedToken]> = lines
        .filter_map(|line| {
            let (name, token) = line.split_once(':').unwrap_or((DEFAULT_NAME, line));
            let (name, token) = (name.trim(), token.trim());
            let identity = Arc::new(ClientIdentity::new(&format!("token:{name}")));
            (!token.is_empty()).then(|| NamedToken { identity, hash: hash_token(token) })
        })
        .collect();
    match tokens.is_empty() {
        true => Err(TokenFileError::Empty(path.to_owned())),
        false => Ok(TokenState { tokens, mark, checked: Instant::now() }),
    }
}

/// The text of a credential of systemd; `None` if it is missing.
fn read_credential(path: &Path) -> Result<Option<String>, TokenFileError> {
    let mode = std::fs::metadata(path).map_or(0, |about| about.mode());
    match mode & 0o037 {
        0 => Ok(read_text(path, DOOR_TOKEN_FILE_BYTES)?.map(|file| file.text)),
        _ => Err(TokenFileError::OpenCredential(path.to_owned())),
    }
}

/// The mark of the file; `None` if it is missing.
fn file_mark(path: &Path) -> Option<FileMark> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.ino(), about.size(), about.ctime(), about.ctime_nsec()))
}

fn hash_token(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn generate_token() -> Result<GeneratedToken, TokenFileError> {
    let mut bytes = Zeroizing::new([0; TOKEN_BYTES]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|_| TokenFileError::NoRandomness)?;
    Ok(Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice())))
}
