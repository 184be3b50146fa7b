//! IP networks in CIDR form, for trusted proxies.

use std::net::IpAddr;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// An IP network in CIDR form; a single address is a network of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpNetwork {
    address: IpAddr,
    prefix_bits: u8,
}

impl IpNetwork {
    /// Returns true if the network contains `address`.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, true),
            IpAddr::V6(v6) => (v6.to_bits(), false),
        };
        let (mine, mine_is_v4) = bits(self.address);
        let (other, other_is_v4) = bits(address.to_canonical());
        let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix_bits)).unwrap_or(0);
        mine_is_v4 == other_is_v4 && mine & mask == other & mask
    }
}

impl IpNetwork {
    /// Returns true for the network of all addresses.
    #[must_use]
    pub const fn contains_everything(&self) -> bool {
        self.prefix_bits == 0
    }
}

impl Serialize for IpNetwork {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/{}", self.address, self.prefix_bits))
    }
}

impl FromStr for IpNetwork {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let address: IpAddr = address.parse().map_err(|_| ())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = prefix.map_or(Ok(longest), str::parse).map_err(|_| ())?;
        if prefix_bits <= longest { Ok(Self { address, prefix_bits }) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("10.0.0.0/8", "10.255.0.1", true)]
    #[case("10.0.0.0/8", "11.0.0.1", false)]
    #[case("127.0.0.1", "127.0.0.1", true)]
    #[case("127.0.0.1", "127.0.0.2", false)]
    #[case("0.0.0.0/0", "9.9.9.9", true)]
    #[case("0.0.0.0/0", "::1", false)]
    #[case("fd00::/8", "fd12::1", true)]
    #[case("10.0.0.0/8", "::ffff:10.0.0.1", true)]
    fn networks_hold_their_addresses(#[case] network: &str, #[case] address: &str, #[case] inside: bool) {
        let network: IpNetwork = network.parse().unwrap();
        assert_eq!(network.contains(address.parse().unwrap()), inside);
    }

    #[rstest]
    #[case("10.0.0.0/33")]
    #[case("10.0.0.0/")]
    #[case("nonsense")]
    fn other_forms_of_networks_are_refused(#[case] text: &str) {
        assert_eq!(text.parse::<IpNetwork>(), Err(()));
    }
}
