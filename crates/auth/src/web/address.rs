//! Classifies IP addresses: public, private, loopback, or never allowed.
//!
//! Pure functions. The ranges are those of IANA's special-purpose registries, plus the metadata addresses of
//! clouds, which hand out credentials. An address that embeds another one is classified by the embedded one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The reach of an address. A server may name addresses of its own reach or wider, and none that is narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AddressReach {
    /// Reachable from everywhere.
    Public,
    /// Reachable from the same network (RFC 1918, RFC 6598, RFC 4193).
    Private,
    /// Reachable from this machine only.
    Loopback,
}

/// The reason why an address is never allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForbiddenAddress {
    /// A link-local address.
    LinkLocal,
    /// A cloud metadata address, which hands out credentials.
    Metadata,
    /// A reserved address: unspecified, multicast, documentation or future use.
    Unassigned,
}

/// The metadata addresses of Alibaba, Azure and Oracle.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];

/// The metadata addresses of AWS, Google and Scaleway.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Classifies an address.
pub(super) fn classify_address(address: IpAddr) -> Result<AddressReach, ForbiddenAddress> {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> Result<AddressReach, ForbiddenAddress> {
    if METADATA_V4.contains(&address) {
        return Err(ForbiddenAddress::Metadata);
    }
    match address.octets() {
        [127, ..] => Ok(AddressReach::Loopback),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Ok(AddressReach::Private),
        [169, 254, 169 | 170, _] => Err(ForbiddenAddress::Metadata),
        [169, 254, ..] => Err(ForbiddenAddress::LinkLocal),
        // This network, protocol assignments, documentation, 6to4 relays, benchmarking, multicast, future use
        // and broadcast.
        [0, ..]
        | [192, 0, 0 | 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [224..=255, ..] => Err(ForbiddenAddress::Unassigned),
        _ => Ok(AddressReach::Public),
    }
}

fn classify_v6(address: Ipv6Addr) -> Result<AddressReach, ForbiddenAddress> {
    if METADATA_V6.contains(&address) {
        return Err(ForbiddenAddress::Metadata);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Err(ForbiddenAddress::Unassigned),
        [0, 0, 0, 0, 0, 0, 0, 1] => Ok(AddressReach::Loopback),
        // Mapped (RFC 4291), compatible (the same, withdrawn), translated (RFC 6052, and RFC 2765 before it).
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => classify_v4(join_segments(high, low)),
        // Translated within one network (RFC 8215), with the embedded address at the end.
        [0x64, 0xff9b, 1, .., high, low] => {
            Ok(classify_v4(join_segments(high, low))?.max(AddressReach::Private))
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => classify_v4(join_segments(high, low)),
        [0xfc00..=0xfdff, ..] => Ok(AddressReach::Private),
        [0xfe80..=0xfebf, ..] => Err(ForbiddenAddress::LinkLocal),
        // Protocol assignments, tunnels and benchmarking; documentation, twice.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Err(ForbiddenAddress::Unassigned)
        }
        [0x2000..=0x3fff, ..] => Ok(AddressReach::Public),
        _ => Err(ForbiddenAddress::Unassigned),
    }
}

fn join_segments(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests;
