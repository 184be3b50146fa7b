//! Several claims of one host name (contract 4.15): one that is not verified blocks nobody and is not disclosed; the first
//! that is proven ends the others.

use std::thread;

use rstest::rstest;
use serde_json::{Value, json};

use super::{TAKEN, attach, errors, page, path, shared, verify};
use crate::support::client::{Answer, Client, exchange};
use crate::support::name_server::NameServer;

/// The status with which a visitor of this host is answered.
fn visit(client: &Client, host: &str) -> u16 {
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    exchange(client.address, request.as_bytes()).status
}

/// Lets the host name lead here.
fn lead_here(names: &NameServer, host: &str) {
    names.alias(host, "edge.example.test");
}

/// Sets the TXT record of a claim beside those that are there.
fn prove(names: &NameServer, domain: &Value) {
    names.text(domain["txt_record_name"].as_str().unwrap(), domain["txt_record_value"].as_str().unwrap());
}

fn post(client: &Client, page: &str, host: &str) -> Answer {
    client.post(&format!("{page}/custom-domains"), &json!({"hostname": host}))
}

fn read(client: &Client, page: &str, domain: &Value) -> Value {
    client.get(&path(page, domain)).expect(200).data()
}

/// Status and code of a claim.
fn state(domain: &Value) -> (&str, Option<&str>) {
    (domain["status"].as_str().unwrap(), domain["last_error_code"].as_str())
}

const LOST: (&str, Option<&str>) = ("failed", Some("claimed_elsewhere"));

/// Response for a claim, without the random values.
fn undrawn(answer: &Answer) -> (u16, Value, Vec<String>) {
    let mut domain = answer.data();
    for key in ["id", "hostname", "txt_record_name", "txt_record_value", "statuspage_id"] {
        domain[key] = Value::Null;
    }
    let mut headers: Vec<_> = answer.headers.iter().map(|(name, _)| name.clone()).collect();
    headers.sort_unstable();
    (answer.status, domain, headers)
}

/// An earlier claim does not block the owner, and a later one does not learn that there is another.
#[test]
fn an_unverified_claim_blocks_nobody_and_is_not_disclosed() {
    let shared = shared();
    let (server, names) = &*shared;
    let (squatter, owner) = (server.tenant("business"), server.tenant("business"));
    let (theirs, mine) = (page(&squatter), page(&owner));
    let first = attach(&squatter, &theirs, "victim.example.com");
    let claimed = post(&owner, &mine, "victim.example.com").expect(201);
    let free = post(&owner, &mine, "nobodys.example.com").expect(201);
    assert_eq!(undrawn(&claimed), undrawn(&free), "as for a name that nobody has claimed");
    let second = claimed.data();
    assert_ne!(first["txt_record_value"], second["txt_record_value"]);
    lead_here(names, "victim.example.com");
    assert_eq!((visit(&owner, "victim.example.com"), visit(&owner, "nobodys.example.com")), (404, 404));
    prove(names, &second);
    let looked = verify(&squatter, &theirs, &first);
    assert_eq!(state(&looked), ("pending_verification", Some("ownership_missing")), "by its own value alone");
    assert_eq!(state(&verify(&owner, &mine, &second)), ("active", None));
    assert_eq!(visit(&owner, "victim.example.com"), 200);
}

/// One organisation's own claim counts until it has failed, on whichever page.
#[test]
fn an_organisation_claims_a_name_once() {
    let shared = shared();
    let (server, _) = &*shared;
    let (client, stranger) = (server.client(), server.tenant("business"));
    let (one, other, theirs) = (page(&client), page(&client), page(&stranger));
    let domain = attach(&client, &one, "twice.example.com");
    attach(&stranger, &theirs, "twice.example.com");
    for page in [&one, &other] {
        assert_eq!(post(&client, page, "twice.example.com").errors(), errors(&[("hostname", TAKEN)]));
    }
    client.delete(&path(&one, &domain)).expect(200);
    client.delete(&path(&one, &domain)).expect(404);
    let again = attach(&client, &other, "twice.example.com");
    assert_ne!((&again["id"], &again["txt_record_value"]), (&domain["id"], &domain["txt_record_value"]));
    client.delete(&other).expect(200);
    attach(&client, &one, "twice.example.com");
}

/// The proof ends all other claims, and the name is its own until the domain is deleted.
#[rstest]
#[case::the_domain_is_deleted("proven.example.com", false)]
#[case::the_page_is_deleted("proven-page.example.com", true)]
fn the_first_proof_ends_the_other_claims(#[case] host: &str, #[case] deletes_page: bool) {
    let shared = shared();
    let (server, names) = &*shared;
    let [winner, loser, idle] = ["business"; 3].map(|plan| server.tenant(plan));
    let (won, lost, waiting) = (page(&winner), page(&loser), page(&idle));
    let slow = attach(&loser, &lost, host);
    let (quick, unlooked) = (attach(&winner, &won, host), attach(&idle, &waiting, host));
    lead_here(names, host);
    // Both records are there at the same time.
    prove(names, &slow);
    prove(names, &quick);
    assert_eq!(state(&verify(&winner, &won, &quick)), ("active", None));
    for (who, page, claim) in [(&loser, &lost, &slow), (&idle, &waiting, &unlooked)] {
        let ended = read(who, page, claim);
        assert_eq!(
            (state(&ended), &ended["verified"], &ended["verified_at"]),
            (LOST, &json!(false), &Value::Null)
        );
        let again = who.post(&format!("{}/verify", path(page, claim)), &json!({}));
        assert_eq!(again.errors(), errors(&[("domain", "This domain is not waiting for verification.")]));
        assert_eq!(post(who, page, host).errors(), errors(&[("hostname", TAKEN)]));
        assert_eq!(state(&read(who, page, claim)), LOST);
    }
    let url = |who: &Client, page: &str| who.get(page).expect(200).data()["url"].as_str().unwrap().to_owned();
    assert_eq!(url(&winner, &won), format!("https://{host}"));
    assert_ne!(url(&loser, &lost), format!("https://{host}"));
    assert_eq!(visit(&winner, host), 200);
    if deletes_page {
        winner.delete(&won).expect(200);
    } else {
        winner.delete(&path(&won, &quick)).expect(200);
        assert_eq!(visit(&winner, host), 404, "no longer served, at once");
    }
    assert_eq!(state(&read(&loser, &lost, &slow)), LOST, "it stays failed");
    // A failed claim of one's own is no obstacle.
    let renewed = attach(&loser, &lost, host);
    assert_ne!(renewed["txt_record_value"], slow["txt_record_value"]);
    let looked = verify(&loser, &lost, &renewed);
    assert_eq!(state(&looked), ("pending_verification", Some("ownership_missing")), "by the value of before");
    attach(&idle, &waiting, host);
    let list = loser.get(&format!("{lost}/custom-domains")).expect(200).json();
    let found = list["data"].as_array().unwrap().iter().map(|domain| state(domain).0).collect::<Vec<_>>();
    assert_eq!(found, ["failed", "pending_verification"]);
}

/// Two that prove at once: one is active, the other has failed, whichever way they overlap.
#[test]
fn one_of_two_simultaneous_proofs_wins() {
    let shared = shared();
    let (server, names) = &*shared;
    let rivals = ["business"; 2].map(|plan| server.tenant(plan));
    for round in 0..5 {
        let host = format!("race{round}.example.com");
        let pages = rivals.each_ref().map(page);
        let claims = [0, 1].map(|at| attach(&rivals[at], &pages[at], &host));
        lead_here(names, &host);
        claims.iter().for_each(|claim| prove(names, claim));
        let answers = thread::scope(|scope| {
            let asked = [0, 1].map(|at| {
                let (rival, verify) = (&rivals[at], format!("{}/verify", path(&pages[at], &claims[at])));
                scope.spawn(move || rival.post(&verify, &json!({})).status)
            });
            asked.map(|asked| asked.join().unwrap())
        });
        // 422: the other one had won before this one was checked.
        assert!(
            answers.contains(&200) && answers.iter().all(|status| [200, 422].contains(status)),
            "{answers:?}"
        );
        let after = [0, 1].map(|at| read(&rivals[at], &pages[at], &claims[at]));
        let mut states = after.each_ref().map(state);
        states.sort_unstable();
        assert_eq!(states, [("active", None), LOST], "{host}");
        assert_eq!(visit(&rivals[0], &host), 200);
    }
}
