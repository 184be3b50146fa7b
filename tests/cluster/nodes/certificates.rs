//! Certificates of custom domains on several nodes: the one that leads orders, and any of them may be asked by the authority.

use serde_json::{Value, json};

use crate::bus::node::Nodes;
use crate::nodes::JOINED;
use crate::support::eventually;
use crate::support::name_server::NameServer;
use crate::support::pages::{create_page, id_of};
use crate::support::pebble::{Pebble, PebbleRules, TlsVisit, local};

const HOST: &str = "status.shop.example";
/// Every node listens at the same port, as the nodes of a cluster do; here at addresses of one machine.
const ADDRESSES: [&str; 2] = ["127.0.0.1", "127.0.0.2"];

/// TLS-ALPN-01 is answered from memory, so the answer has to be there before the authority asks.
#[tokio::test]
async fn a_node_that_does_not_order_answers_the_challenge() {
    let Some(pebble) = Pebble::start(PebbleRules::default()).await else { return };
    let names = NameServer::start();
    names.address_of("edge.example.test", [192, 0, 2, 1]);
    let common = [
        ("WATCHKEEPER_PROBE__DNS_SERVERS", names.address.to_string()),
        ("WATCHKEEPER_STATUSPAGE_HOST", "pages.example.test".to_owned()),
        ("WATCHKEEPER_EDGE_HOST", "edge.example.test".to_owned()),
    ];
    let Some(mut nodes) = Nodes::start(0).await else { return };
    for address in ADDRESSES {
        nodes.add_settings([common.to_vec(), pebble.settings(address, false)].concat());
        nodes.join();
    }
    nodes.until_even(&[0, 1], JOINED).await;
    let leader = nodes.until_led().await;
    pebble.set_addresses(HOST, &[ADDRESSES[1 - leader]]);

    let client = nodes.client(1 - leader);
    let domains = format!(
        "/v1/statuspages/{}/custom-domains",
        id_of(&create_page(&client, &json!({"is_published": true})))
    );
    let domain = client.post(&domains, &json!({"hostname": HOST})).expect(201).data();
    names.alias(HOST, "edge.example.test");
    names.text(domain["txt_record_name"].as_str().unwrap(), domain["txt_record_value"].as_str().unwrap());
    let path = format!("{domains}/{}", id_of(&domain));
    client.post(&format!("{path}/verify"), &json!({})).expect(200);
    let status = || client.get(&path).expect(200).data()["certificate"].clone();
    let is_over = || Some(status()).filter(|certificate| certificate["status"] != "issuing");
    let certificate = eventually("the order is over", is_over).await;
    assert_eq!((&certificate["status"], &certificate["last_error"]), (&json!("active"), &Value::Null));
    assert_eq!(pebble.orders(), 1);
    let root = pebble.root();
    for address in ADDRESSES {
        let visit = TlsVisit { address: local(address, pebble.tls_port), host: HOST, root: &root };
        eventually("both nodes serve the certificate", || visit.get("/").ok()).await.0.expect(200);
    }
}
