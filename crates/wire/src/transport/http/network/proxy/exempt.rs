//! The hosts that are reached without a proxy, as `NO_PROXY` lists them.

use std::net::{IpAddr, Ipv4Addr};

use url::Host;

/// The list, read once.
#[derive(Debug, Default)]
pub(super) struct Exempt(Vec<Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    place: Place,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    Everything,
    /// This name and all below it, in small letters.
    Domain(String),
    /// Addresses that share so many leading bits with this one.
    Range(IpAddr, u8),
}

impl Exempt {
    /// What cannot be understood exempts nobody.
    pub(super) fn parse(list: &str) -> Self {
        let words = list.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty());
        Self(words.filter_map(Entry::parse).collect())
    }

    pub(super) fn has(&self, host: &Host<&str>, port: Option<u16>) -> bool {
        self.0.iter().any(|entry| (entry.port.is_none() || entry.port == port) && entry.place.has(host))
    }
}

impl Entry {
    fn parse(word: &str) -> Option<Self> {
        let (place, port) = split_port(word);
        let place =
            if place == "*" { Place::Everything } else { range(place).unwrap_or_else(|| domain(place)) };
        // A slash that is no range, or nothing before a port.
        let is_odd = matches!(&place, Place::Domain(name) if name.is_empty() || name.contains('/'));
        (!is_odd).then_some(Self { place, port })
    }
}

/// `[::1]:80` and `host:80` have a port; `::1` has none.
fn split_port(word: &str) -> (&str, Option<u16>) {
    if word.parse::<IpAddr>().is_ok() {
        return (word, None);
    }
    match word.rsplit_once(':').map(|(place, port)| (place, port.parse().ok())) {
        Some((place, Some(port))) if !place.contains(':') || place.ends_with(']') => (place, Some(port)),
        Some(_) | None => (word, None),
    }
}

fn range(text: &str) -> Option<Place> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let address: IpAddr = address.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(most);
    (bits <= most).then_some(Place::Range(address, bits))
}

/// `.example.com` and `*.example.com` are other spellings of `example.com`.
fn domain(text: &str) -> Place {
    let name = text.strip_prefix("*.").or(text.strip_prefix('.')).unwrap_or(text);
    Place::Domain(name.trim_end_matches('.').to_ascii_lowercase())
}

impl Place {
    fn has(&self, host: &Host<&str>) -> bool {
        match (self, host) {
            (Self::Everything, _) => true,
            (Self::Domain(domain), Host::Domain(name)) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                let above = name.strip_suffix(domain.as_str());
                above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
            }
            (Self::Range(start, bits), Host::Ipv4(address)) => shares(*start, IpAddr::V4(*address), *bits),
            (Self::Range(start, bits), Host::Ipv6(address)) => {
                let address = address.to_ipv4_mapped().map_or(IpAddr::V6(*address), IpAddr::V4);
                shares(*start, address, *bits)
            }
            (Self::Domain(_), Host::Ipv4(_) | Host::Ipv6(_)) | (Self::Range(..), Host::Domain(_)) => false,
        }
    }
}

fn shares(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let wide = |address: Ipv4Addr| u128::from(u32::from(address)) << 96;
    let (one, other) = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (wide(one), wide(other)),
        (IpAddr::V6(one), IpAddr::V6(other)) => (u128::from(one), u128::from(other)),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let differing = (one ^ other).leading_zeros();
    differing >= u32::from(bits)
}
