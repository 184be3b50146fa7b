//! Reasons why `probe::icmp` does not use surge-ping's client, but only its packets: each row is a false verdict.
//!
//! When one of these fails, the client has improved, and `probe::pinger::echo` should be reviewed.

use std::net::IpAddr;
use std::time::Duration;

use rstest::rstest;
use socket2::Type;
use surge_ping::{Client, Config, IcmpPacket, PingIdentifier, PingSequence};

use crate::support::namespace::{inside, may_make_namespaces};
use crate::support::responder::{Manner, Responder};

/// The type of the packet that the client accepts as the reply.
#[rstest]
#[case::a_forged_reply_passes(Manner::WrongToken, 0)]
#[case::a_damaged_reply_passes(Manner::WrongChecksum, 0)]
#[case::a_router_that_prohibits_answers_for_the_target(Manner::Unreachable(13), 3)]
fn the_client_accepts_invalid_replies(#[case] manner: Manner, #[case] kind: u8) {
    if !may_make_namespaces() {
        return;
    }
    inside(move || async move {
        let _liar = Responder::start("127.0.0.2", manner);
        let client = Client::new(&Config::builder().sock_type_hint(Type::RAW).build()).unwrap();
        let target: IpAddr = "127.0.0.2".parse().unwrap();
        let mut pinger = client.pinger(target, PingIdentifier(7)).await;
        pinger.timeout(Duration::from_millis(500));
        let (packet, _) = pinger.ping(PingSequence(1), &[1; 56]).await.unwrap();
        let IcmpPacket::V4(packet) = packet else { panic!("asked over IPv4") };
        assert_eq!(packet.get_icmp_type().0, kind);
    });
}
