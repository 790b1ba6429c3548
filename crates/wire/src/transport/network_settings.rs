//! Network settings of a process, and the environment variables they are usually read from.

use std::path::PathBuf;
use std::time::Duration;

use mcparley_model::limits::{KEEP_ALIVE_AFTER, KEEP_ALIVE_EVERY, KEEP_ALIVE_TRIES, UNACKNOWLEDGED};
use mcparley_model::secret::Secret;

/// The settings that differ between networks.
#[derive(Clone, Debug, Default)]
pub struct NetworkSettings {
    /// The proxies between us and the servers.
    pub proxies: ProxySettings,
    /// Files with certificates that are trusted besides the system's, in PEM.
    pub extra_ca: Vec<PathBuf>,
    /// The file with our client certificate, for servers that require one, in PEM.
    pub client_certificate: Option<PathBuf>,
    /// The file with its key; `None` when the certificate file contains the key.
    pub client_key: Option<PathBuf>,
    /// Keep-alive: when a silent connection counts as broken.
    pub keep_alive: KeepAlive,
}

/// TCP keep-alive settings. Only the other side's kernel is probed, so a server may take as long as it needs.
#[derive(Clone, Copy, Debug)]
pub struct KeepAlive {
    /// Idle time before the first probe.
    pub after: Duration,
    /// Interval between probes.
    pub every: Duration,
    /// Number of probes.
    pub tries: u32,
    /// Timeout for acknowledgement of sent data, where the system supports it.
    pub unacknowledged: Duration,
}

impl Default for KeepAlive {
    fn default() -> Self {
        Self {
            after: KEEP_ALIVE_AFTER,
            every: KEEP_ALIVE_EVERY,
            tries: KEEP_ALIVE_TRIES,
            unacknowledged: UNACKNOWLEDGED,
        }
    }
}

/// The proxies between us and the servers. Secret, because the URLs may contain credentials.
#[derive(Clone, Debug, Default)]
pub struct ProxySettings {
    /// For `http` servers.
    pub http: Option<Secret<String>>,
    /// For `https` servers.
    pub https: Option<Secret<String>>,
    /// For schemes without a proxy of their own.
    pub all: Option<Secret<String>>,
    /// Servers that are reached without a proxy: hosts, `host:port`, address ranges, or `*`; comma-separated.
    pub none_for: String,
}

impl NetworkSettings {
    /// Reads the usual variables through `lookup`. An empty variable counts as unset, and the lowercase name
    /// wins, as in other programs.
    #[must_use]
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let either = |name: &str| set(&name.to_ascii_lowercase()).or_else(|| set(name));
        let path = |name: &str| set(name).map(PathBuf::from);
        Self {
            proxies: ProxySettings {
                http: either("HTTP_PROXY").map(Secret::new),
                https: either("HTTPS_PROXY").map(Secret::new),
                all: either("ALL_PROXY").map(Secret::new),
                none_for: either("NO_PROXY").unwrap_or_default(),
            },
            extra_ca: ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"].into_iter().filter_map(path).collect(),
            client_certificate: path("CLAUDE_CODE_CLIENT_CERT"),
            client_key: path("CLAUDE_CODE_CLIENT_KEY"),
            keep_alive: KeepAlive::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T8
    #[test]
    fn variables_are_read_in_both_cases_and_empty_ones_are_not_set() {
        let variables = [
            ("HTTP_PROXY", "http://upper:1"),
            ("http_proxy", "http://lower:1"),
            ("HTTPS_PROXY", "http://upper:2"),
            ("https_proxy", ""),
            ("no_proxy", "a,b"),
            ("NODE_EXTRA_CA_CERTS", "/ca.pem"),
            ("SSL_CERT_FILE", " "),
            ("CLAUDE_CODE_CLIENT_CERT", "/cert.pem"),
        ];
        let settings = NetworkSettings::from_lookup(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        let exposed = |proxy: &Option<Secret<String>>| proxy.as_ref().map(|proxy| proxy.expose().clone());
        assert_eq!(exposed(&settings.proxies.http).as_deref(), Some("http://lower:1"));
        assert_eq!(exposed(&settings.proxies.https).as_deref(), Some("http://upper:2"));
        assert_eq!(exposed(&settings.proxies.all), None);
        assert_eq!(settings.proxies.none_for, "a,b");
        assert_eq!(settings.extra_ca, [PathBuf::from("/ca.pem")]);
        assert_eq!(settings.client_certificate, Some(PathBuf::from("/cert.pem")));
        assert_eq!(settings.client_key, None);
    }
}
