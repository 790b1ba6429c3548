//! Reason codes for a server that could not be started or reached.
//!
//! The text of a failure is for people; this is the same reason for programs, classified where the failure
//! occurs.

/// The reason why a server could not be started or reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The program does not exist.
    NoProgram,
    /// The user may not execute the program.
    NotExecutable,
    /// The program is a directory.
    Directory,
    /// The program is a script, and its interpreter is missing.
    NoInterpreter,
    /// The program is neither a binary for this machine nor a script.
    BadFormat,
    /// The working directory is missing or closed to us.
    WorkingDirectory,
    /// The system has no file descriptor left.
    Descriptors,
    /// The system has no process or memory left.
    Resources,
    /// The program was not loaded in time.
    SlowStart,
    /// The host name cannot be resolved.
    NoAddress,
    /// Connection refused: no program listens on the port.
    PortClosed,
    /// No route leads to the host.
    NoRoute,
    /// The certificate is signed by an issuer that is not trusted here.
    UnknownIssuer,
    /// The certificate is self-signed.
    SelfSigned,
    /// The certificate has expired.
    CertificateExpired,
    /// The certificate is not valid yet.
    CertificateEarly,
    /// The certificate is for another host name.
    CertificateName,
    /// The server requires a client certificate, or does not accept ours.
    ClientCertificate,
    /// The server does not speak TLS on this port.
    NoTls,
    /// Any other TLS error.
    Tls,
    /// A file with certificates cannot be used.
    CertificateFile,
    /// The proxy requires sign-in.
    ProxySignIn,
    /// The proxy is unreachable, invalid, or refuses to connect to the server.
    Proxy,
    /// Credentials are unavailable: the authorization server, or another source of them, has failed. The
    /// server itself was not asked, or requires sign-in.
    SignIn,
    /// Any other reason; the text of the failure has it.
    Other,
}

impl Obstacle {
    /// All reason codes.
    pub const ALL: [Self; 25] = [
        Self::NoProgram,
        Self::NotExecutable,
        Self::Directory,
        Self::NoInterpreter,
        Self::BadFormat,
        Self::WorkingDirectory,
        Self::Descriptors,
        Self::Resources,
        Self::SlowStart,
        Self::NoAddress,
        Self::PortClosed,
        Self::NoRoute,
        Self::UnknownIssuer,
        Self::SelfSigned,
        Self::CertificateExpired,
        Self::CertificateEarly,
        Self::CertificateName,
        Self::ClientCertificate,
        Self::NoTls,
        Self::Tls,
        Self::CertificateFile,
        Self::ProxySignIn,
        Self::Proxy,
        Self::SignIn,
        Self::Other,
    ];

    /// The action that failed, for messages that name the server next: "cannot start".
    #[must_use]
    pub fn failed_action(self) -> &'static str {
        match self {
            Self::NoProgram
            | Self::NotExecutable
            | Self::Directory
            | Self::NoInterpreter
            | Self::BadFormat
            | Self::WorkingDirectory
            | Self::Descriptors
            | Self::Resources
            | Self::SlowStart => "cannot start",
            Self::NoAddress
            | Self::PortClosed
            | Self::NoRoute
            | Self::UnknownIssuer
            | Self::SelfSigned
            | Self::CertificateExpired
            | Self::CertificateEarly
            | Self::CertificateName
            | Self::ClientCertificate
            | Self::NoTls
            | Self::Tls
            | Self::CertificateFile
            | Self::ProxySignIn
            | Self::Proxy => "cannot reach",
            Self::SignIn => "cannot get credentials for",
            Self::Other => "cannot connect to",
        }
    }

    /// The name of the code in `--json` output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoProgram => "no-program",
            Self::NotExecutable => "not-executable",
            Self::Directory => "directory",
            Self::NoInterpreter => "no-interpreter",
            Self::BadFormat => "bad-format",
            Self::WorkingDirectory => "working-directory",
            Self::Descriptors => "descriptors",
            Self::Resources => "resources",
            Self::SlowStart => "slow-start",
            Self::NoAddress => "no-address",
            Self::PortClosed => "port-closed",
            Self::NoRoute => "no-route",
            Self::UnknownIssuer => "unknown-issuer",
            Self::SelfSigned => "self-signed",
            Self::CertificateExpired => "certificate-expired",
            Self::CertificateEarly => "certificate-early",
            Self::CertificateName => "certificate-name",
            Self::ClientCertificate => "client-certificate",
            Self::NoTls => "no-tls",
            Self::Tls => "tls",
            Self::CertificateFile => "certificate-file",
            Self::ProxySignIn => "proxy-sign-in",
            Self::Proxy => "proxy",
            Self::SignIn => "sign-in",
            Self::Other => "other",
        }
    }
}
