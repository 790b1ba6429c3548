//! What stood in the way of a server that could not be started or reached.
//!
//! The reason of a refusal is for people; this is the same for programs, told where the refusal is born.

/// What stood in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// There is no such program.
    NoProgram,
    /// The user may not execute it.
    NotExecutable,
    /// It is a directory.
    Directory,
    /// It is a script, and its interpreter is missing.
    NoInterpreter,
    /// It is neither a binary for this machine nor a script.
    BadFormat,
    /// Its working directory is missing or closed to us.
    WorkingDirectory,
    /// The system has no descriptor left.
    Descriptors,
    /// The system has no process or memory left.
    Resources,
    /// It was not loaded in time.
    SlowStart,
    /// Its host has no address.
    NoAddress,
    /// Nobody listens at its port.
    PortClosed,
    /// No way leads to its host.
    NoRoute,
    /// Its certificate is signed by nobody who is trusted here.
    UnknownIssuer,
    /// Its certificate is signed by itself.
    SelfSigned,
    /// Its certificate has expired.
    CertificateExpired,
    /// Its certificate is not valid yet.
    CertificateEarly,
    /// Its certificate is for another name.
    CertificateName,
    /// It wants a certificate of ours, or does not accept it.
    ClientCertificate,
    /// It does not speak TLS at this port.
    NoTls,
    /// Something else about TLS.
    Tls,
    /// A file with certificates cannot be used.
    CertificateFile,
    /// The proxy wants a sign-in.
    ProxySignIn,
    /// The proxy is not there, not usable, or lets nobody through.
    Proxy,
    /// What would let us in cannot be had now: whoever gives it is in trouble. The server itself was not asked, or said
    /// that it wants it.
    SignIn,
    /// Anything else; the reason says what.
    Other,
}

impl Obstacle {
    /// Every obstacle.
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

    /// The word for it, as `--json` has it.
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
