//! The egress gate under both policies (reliability 28). What an address is, after un-mapping, is a table of its own
//! beside the code; here is who may go there.

use std::net::IpAddr;

use rstest::rstest;
use watchkeeper::egress::{AddressClass, EgressGate, EgressPolicy, classify};

/// Columns: address, allowed where the operator watches own machines, allowed where strangers are served.
#[rstest]
#[case("1.1.1.1", true, true)]
#[case("2606:4700:4700::1111", true, true)]
#[case("64:ff9b::1.1.1.1", true, true)]
#[case("127.0.0.1", true, false)]
#[case("::1", true, false)]
#[case("10.1.2.3", true, false)]
#[case("100.64.0.1", true, false)]
#[case("fd12::1", true, false)]
#[case("::ffff:10.0.0.1", true, false)]
#[case("2002:0a00:0001::1", true, false)]
#[case("64:ff9b::10.0.0.1", true, false)]
#[case("169.254.169.254", false, false)]
#[case("100.100.100.200", false, false)]
#[case("168.63.129.16", false, false)]
#[case("fd00:ec2::254", false, false)]
#[case("fe80::1", false, false)]
#[case("::ffff:169.254.169.254", false, false)]
#[case("64:ff9b::a9fe:a9fe", false, false)]
#[case("2002:a9fe:a9fe::1", false, false)]
#[case("224.0.0.1", false, false)]
#[case("255.255.255.255", false, false)]
#[case("0.0.0.0", false, false)]
#[case("::", false, false)]
fn the_egress_policy_decides_about_addresses(
    #[case] address: IpAddr,
    #[case] own_machines: bool,
    #[case] strangers: bool,
) {
    for (policy, allowed) in
        [(EgressPolicy::PrivateAllowed, own_machines), (EgressPolicy::PublicOnly, strangers)]
    {
        let gate = EgressGate { policy, source: None };
        let permitted = gate.permit(address);
        assert_eq!(permitted.is_ok(), allowed, "{policy:?}");
        if let Ok(pinned) = permitted {
            assert_eq!(pinned.address(), address, "what was classified is what is dialled");
        }
    }
}

#[rstest]
fn nothing_in_a_private_block_is_public(#[values(8, 16, 24)] step: u32) {
    for host in 0..=255_u32 {
        let address = IpAddr::V4((0x0a00_0000 | (host << (24 - step))).into());
        assert_eq!(classify(address), AddressClass::Private, "{address}");
    }
}
