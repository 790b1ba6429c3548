//! The classification of addresses, in all their spellings.

use super::*;
use proptest::prelude::*;
use url::{Host, Url};

fn judged(address: &str) -> Result<AddressReach, ForbiddenAddress> {
    classify_address(address.parse().unwrap())
}

// B68 H15
#[test]
fn addresses_have_the_reach_of_the_registries() {
    use AddressReach::{Loopback, Private, Public};
    for (address, wanted) in [
        ("8.8.8.8", Ok(Public)),
        ("1.1.1.1", Ok(Public)),
        ("172.15.255.255", Ok(Public)),
        ("172.32.0.0", Ok(Public)),
        ("100.63.255.255", Ok(Public)),
        ("100.128.0.0", Ok(Public)),
        ("192.0.1.1", Ok(Public)),
        ("198.17.255.255", Ok(Public)),
        ("198.20.0.0", Ok(Public)),
        ("223.255.255.255", Ok(Public)),
        ("2606:4700::1111", Ok(Public)),
        ("2001:4860:4860::8888", Ok(Public)),
        ("10.0.0.1", Ok(Private)),
        ("172.16.0.0", Ok(Private)),
        ("172.31.255.255", Ok(Private)),
        ("192.168.1.1", Ok(Private)),
        ("100.64.0.1", Ok(Private)),
        ("fc00::1", Ok(Private)),
        ("fd12:3456::1", Ok(Private)),
        ("127.0.0.1", Ok(Loopback)),
        ("127.255.255.254", Ok(Loopback)),
        ("::1", Ok(Loopback)),
    ] {
        assert_eq!(judged(address), wanted, "{address}");
    }
}

// B68 H15
#[test]
fn reserved_and_metadata_addresses_are_never_allowed() {
    use ForbiddenAddress::{LinkLocal, Metadata, Unassigned};
    for (address, wanted) in [
        ("169.254.169.254", Err(Metadata)),
        ("169.254.170.2", Err(Metadata)),
        ("100.100.100.200", Err(Metadata)),
        ("168.63.129.16", Err(Metadata)),
        ("192.0.0.192", Err(Metadata)),
        ("fd00:ec2::254", Err(Metadata)),
        ("fd20:ce::254", Err(Metadata)),
        ("fd00:42::42", Err(Metadata)),
        ("169.254.0.1", Err(LinkLocal)),
        ("fe80::1", Err(LinkLocal)),
        ("febf::1", Err(LinkLocal)),
        ("0.0.0.0", Err(Unassigned)),
        ("0.1.2.3", Err(Unassigned)),
        ("192.0.0.1", Err(Unassigned)),
        ("192.0.2.1", Err(Unassigned)),
        ("198.51.100.1", Err(Unassigned)),
        ("203.0.113.1", Err(Unassigned)),
        ("192.88.99.1", Err(Unassigned)),
        ("198.18.0.1", Err(Unassigned)),
        ("198.19.255.255", Err(Unassigned)),
        ("224.0.0.1", Err(Unassigned)),
        ("240.0.0.1", Err(Unassigned)),
        ("255.255.255.255", Err(Unassigned)),
        ("::", Err(Unassigned)),
        ("fec0::1", Err(Unassigned)),
        ("ff02::1", Err(Unassigned)),
        ("100::1", Err(Unassigned)),
        ("2001::1", Err(Unassigned)),
        ("2001:2::1", Err(Unassigned)),
        ("2001:20::1", Err(Unassigned)),
        ("2001:db8::1", Err(Unassigned)),
        ("3fff::1", Err(Unassigned)),
        ("5f00::1", Err(Unassigned)),
    ] {
        assert_eq!(judged(address), wanted, "{address}");
    }
}

// B68
#[test]
fn embedded_address_decides() {
    for (outer, inner) in [
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("::ffff:169.254.169.254", "169.254.169.254"),
        ("::127.0.0.1", "127.0.0.1"),
        ("::ffff:0:10.0.0.1", "10.0.0.1"),
        ("64:ff9b::7f00:1", "127.0.0.1"),
        ("64:ff9b::808:808", "8.8.8.8"),
        ("64:ff9b::a9fe:a9fe", "169.254.169.254"),
        ("64:ff9b:1::a00:1", "10.0.0.1"),
        ("64:ff9b:1::a9fe:a9fe", "169.254.169.254"),
        ("2002:7f00:1::", "127.0.0.1"),
        ("2002:a00:1::1", "10.0.0.1"),
        ("2002:808:808::1", "8.8.8.8"),
    ] {
        assert_eq!(judged(outer), judged(inner), "{outer}");
    }
    assert_eq!(judged("64:ff9b:1::808:808"), Ok(AddressReach::Private));
}

// B68
#[test]
fn every_spelling_of_an_address_is_that_address() {
    for (spelling, wanted) in [
        ("0x7f.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("%31%32%37.1", "127.0.0.1"),
        ("\u{ff11}\u{ff12}\u{ff17}.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("0xA9FEA9FE", "169.254.169.254"),
        ("[::ffff:10.0.0.1]", "::ffff:10.0.0.1"),
        ("[0:0:0:0:0:ffff:a00:1]", "::ffff:10.0.0.1"),
    ] {
        let url = Url::parse(&format!("https://{spelling}/")).unwrap();
        let address = match url.host().unwrap() {
            Host::Ipv4(address) => IpAddr::V4(address),
            Host::Ipv6(address) => IpAddr::V6(address),
            Host::Domain(name) => panic!("{spelling}: {name}"),
        };
        assert_eq!(address, wanted.parse::<IpAddr>().unwrap(), "{spelling}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    // B68: no address that the standard library calls private, local or reserved is public.
    #[test]
    fn special_purpose_addresses_are_not_public(bits in any::<u32>(), wide in any::<u128>()) {
        let (four, six) = (Ipv4Addr::from(bits), Ipv6Addr::from(wide));
        let special = four.is_private() || four.is_loopback() || four.is_link_local() || four.is_multicast()
            || four.is_broadcast() || four.is_documentation() || four.is_unspecified();
        prop_assert!(!special || classify_address(four.into()) != Ok(AddressReach::Public));
        let special = six.is_loopback() || six.is_multicast() || six.is_unspecified() || six.is_unique_local()
            || six.is_unicast_link_local();
        prop_assert!(!special || classify_address(six.into()) != Ok(AddressReach::Public));
        prop_assert_eq!(classify_address(four.to_ipv6_mapped().into()), classify_address(four.into()));
    }
}
