//! The hosts that are reached without a proxy, as `NO_PROXY` lists them.

use std::net::{IpAddr, Ipv4Addr};

use url::Host;

/// The parsed list of exemptions.
#[derive(Debug, Default)]
pub(super) struct ProxyExemptions(Vec<ExemptionEntry>);

#[derive(Debug, PartialEq, Eq)]
struct ExemptionEntry {
    place: ExemptHost,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum ExemptHost {
    AnyHost,
    /// This domain and its subdomains, in lower case.
    Domain(String),
    /// Addresses that share this many leading bits with this one.
    Range(IpAddr, u8),
}

impl ProxyExemptions {
    /// Parses the list. An entry that cannot be parsed exempts no host.
    pub(super) fn parse(list: &str) -> Self {
        let words = list.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty());
        Self(words.filter_map(ExemptionEntry::parse).collect())
    }

    pub(super) fn matches_host(&self, host: &Host<&str>, port: Option<u16>) -> bool {
        self.0
            .iter()
            .any(|entry| (entry.port.is_none() || entry.port == port) && entry.place.matches_host(host))
    }
}

impl ExemptionEntry {
    fn parse(word: &str) -> Option<Self> {
        let (place, port) = split_port(word);
        let place = if place == "*" {
            ExemptHost::AnyHost
        } else {
            parse_range(place).unwrap_or_else(|| parse_domain(place))
        };
        // A slash that is no range, or an empty host before a port.
        let is_odd = matches!(&place, ExemptHost::Domain(name) if name.is_empty() || name.contains('/'));
        (!is_odd).then_some(Self { place, port })
    }
}

/// Splits off the port: `[::1]:80` and `host:80` have one, `::1` has none.
fn split_port(word: &str) -> (&str, Option<u16>) {
    if word.parse::<IpAddr>().is_ok() {
        return (word, None);
    }
    match word.rsplit_once(':').map(|(place, port)| (place, port.parse().ok())) {
        Some((place, Some(port))) if !place.contains(':') || place.ends_with(']') => (place, Some(port)),
        Some(_) | None => (word, None),
    }
}

fn parse_range(text: &str) -> Option<ExemptHost> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let address: IpAddr = address.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(most);
    (bits <= most).then_some(ExemptHost::Range(address, bits))
}

/// Parses a domain. `.example.com` and `*.example.com` are other spellings of `example.com`.
fn parse_domain(text: &str) -> ExemptHost {
    let name = text.strip_prefix("*.").or(text.strip_prefix('.')).unwrap_or(text);
    ExemptHost::Domain(name.trim_end_matches('.').to_ascii_lowercase())
}

impl ExemptHost {
    fn matches_host(&self, host: &Host<&str>) -> bool {
        match (self, host) {
            (Self::AnyHost, _) => true,
            (Self::Domain(domain), Host::Domain(name)) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                let above = name.strip_suffix(domain.as_str());
                above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
            }
            (Self::Range(start, bits), Host::Ipv4(address)) => {
                shares_prefix(*start, IpAddr::V4(*address), *bits)
            }
            (Self::Range(start, bits), Host::Ipv6(address)) => {
                let address = address.to_ipv4_mapped().map_or(IpAddr::V6(*address), IpAddr::V4);
                shares_prefix(*start, address, *bits)
            }
            (Self::Domain(_), Host::Ipv4(_) | Host::Ipv6(_)) | (Self::Range(..), Host::Domain(_)) => false,
        }
    }
}

fn shares_prefix(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let wide = |address: Ipv4Addr| u128::from(u32::from(address)) << 96;
    let (one, other) = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (wide(one), wide(other)),
        (IpAddr::V6(one), IpAddr::V6(other)) => (u128::from(one), u128::from(other)),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let differing = (one ^ other).leading_zeros();
    differing >= u32::from(bits)
}
