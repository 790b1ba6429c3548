//! Decides what an address is: one for everybody, one of a private network, this machine, or none that sign-in ever asks.
//!
//! Pure. The ranges are those of IANA's special-purpose registries, plus the places where clouds keep the credentials of
//! their machines (H15). An address that carries another one inside is what it carries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How near an address is. Whoever is at one may name others that are as far away or farther, and none that is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Everybody can ask it.
    Public,
    /// Who is in the same network can (RFC 1918, RFC 6598, RFC 4193).
    Private,
    /// Who is on this machine can.
    Loopback,
}

/// Why an address is never asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Never {
    /// Only what is on the same cable has it.
    LinkLocal,
    /// A cloud keeps credentials there.
    Metadata,
    /// Nobody has it: it stands for none, for many, for examples or for the future.
    Unassigned,
}

/// Clouds keep the credentials of their machines there: Alibaba, Azure and Oracle.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];

/// The same of AWS, Google and Scaleway.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// How near an address is.
pub(super) fn judge(address: IpAddr) -> Result<Reach, Never> {
    match address {
        IpAddr::V4(address) => judge_v4(address),
        IpAddr::V6(address) => judge_v6(address),
    }
}

fn judge_v4(address: Ipv4Addr) -> Result<Reach, Never> {
    if METADATA_V4.contains(&address) {
        return Err(Never::Metadata);
    }
    match address.octets() {
        [127, ..] => Ok(Reach::Loopback),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Ok(Reach::Private),
        [169, 254, 169 | 170, _] => Err(Never::Metadata),
        [169, 254, ..] => Err(Never::LinkLocal),
        // This network, protocols, examples, relays, measurements, groups, the future and everybody.
        [0, ..]
        | [192, 0, 0 | 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [224..=255, ..] => Err(Never::Unassigned),
        _ => Ok(Reach::Public),
    }
}

fn judge_v6(address: Ipv6Addr) -> Result<Reach, Never> {
    if METADATA_V6.contains(&address) {
        return Err(Never::Metadata);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Err(Never::Unassigned),
        [0, 0, 0, 0, 0, 0, 0, 1] => Ok(Reach::Loopback),
        // Mapped (RFC 4291), compatible (the same, withdrawn), translated (RFC 6052, and RFC 2765 before it).
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => judge_v4(joined(high, low)),
        // Translated within one network (RFC 8215), wherever in it the other address stands.
        [0x64, 0xff9b, 1, .., high, low] => Ok(judge_v4(joined(high, low))?.max(Reach::Private)),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => judge_v4(joined(high, low)),
        [0xfc00..=0xfdff, ..] => Ok(Reach::Private),
        [0xfe80..=0xfebf, ..] => Err(Never::LinkLocal),
        // Protocols, tunnels and measurements; examples, twice.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Err(Never::Unassigned),
        [0x2000..=0x3fff, ..] => Ok(Reach::Public),
        _ => Err(Never::Unassigned),
    }
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests;
