//! Memory limits (reliability 18): a hostile response costs at most 2 MiB a check, whatever it announces, and a hostile template
//! at most 8 MiB. A list costs no more for the configurations of the services in it. A view of all services of an organisation
//! takes at most 200 bytes for each.
//!
//! A binary of its own, because it counts every allocation of the process.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

#[allow(dead_code, reason = "shared with the tests of the probe, which use all of it")]
#[path = "probe/support/mod.rs"]
mod support;

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use peak_alloc::PeakAlloc;
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::Instant;
use watchkeeper::clock::Timestamp;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::fleet_view::fleet_facts::{FleetFacts, IncidentPresence, MeasuredState};
use watchkeeper::fleet_view::view::FleetView;
use watchkeeper::id::Id;
use watchkeeper::model::check::{CheckOutcome, CheckType};
use watchkeeper::model::service_outline::{ServiceOutline, SettingsOutline};
use watchkeeper::model::tag::Tag;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::notify::template::{MessageTemplate, TEMPLATE_LENGTH, WorkMeter};
use watchkeeper::probe;
use watchkeeper::store::database::sqlite_url;
use watchkeeper::store::incidents::list::{IncidentFilter, page};
use watchkeeper::store::{Database, Databases, PageWindow};
use watchkeeper_entities::{incident, incident_service, organisation, service};

use crate::support::server::Server;
use crate::support::{condition, http, toolbox};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
const EXTRA_MAX_BYTES: usize = 2 * MIB;
const TEMPLATE_MAX_BYTES: usize = 8 * MIB;
const LIST_MAX_BYTES: usize = 20 * MIB;
const VIEW_MAX_BYTES: usize = 20_000_000;
const VIEW_SERVICES: usize = 100_000;
/// Maximum ratios of the time of a list to that of one whose services have no configuration, and of one without services.
const LIST_TIMES_MAX: [u32; 2] = [3, 10];
/// Number of times that the lists are read: at least, and until the shortest times are within the limit.
const LIST_ROUNDS_MIN: usize = 5;
const LIST_ROUNDS_MAX: usize = 200;

/// Set in the process in which one test runs alone.
const ALONE: &str = "WATCHKEEPER_TESTS_ALONE";
/// One test at a time counts what the process allocates.
static COUNTING: Mutex<()> = Mutex::const_new(());

/// A body, how it claims to be coded, and what the check must say about it.
struct Attack {
    name: &'static str,
    coding: &'static str,
    body: Vec<u8>,
    says: Option<&'static str>,
}

/// A frame whose header is `window`, followed by blocks of 128 KiB in four bytes each.
fn zstd(window: &[u8]) -> Vec<u8> {
    let header = [&[0x28, 0xb5, 0x2f, 0xfd][..], window].concat();
    let block = [0x02, 0x00, 0x10, b'a'];
    let last = [0x03, 0x00, 0x10, b'a'];
    [header, block.repeat(900), last.to_vec()].concat()
}

/// Uncompressed metablocks of 64 KiB behind these first bits of a stream, which are padded to bytes.
fn brotli(first_bits: u32, count: u32) -> Vec<u8> {
    let mut body = Vec::new();
    // Not the last one, four nibbles of length, 65,536 bytes, uncompressed.
    let head = (0xffff_u64 << 3) | (1 << 19);
    for number in 0..20 {
        let (bits, length) =
            if number == 0 { (u64::from(first_bits) | (head << count), count + 20) } else { (head, 20) };
        body.extend_from_slice(&bits.to_le_bytes()[..usize::try_from(length.div_ceil(8)).unwrap()]);
        body.extend_from_slice(&[b'a'; 1 << 16]);
    }
    body.push(0b11); // The last one, empty.
    body
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..100 {
        encoder.write_all(plain).unwrap();
    }
    encoder.finish().unwrap()
}

fn attacks() -> Vec<Attack> {
    let says_window = |size| Some(if size == 8 { "a window above 8 MiB" } else { "a window above 16 MiB" });
    let attack = |name, coding, body, says| Attack { name, coding, body, says };
    vec![
        attack("zstd, 96 MiB", "zstd", zstd(&[0x00, 0x84]), says_window(8)),
        attack("zstd, one segment of 1 GiB", "zstd", zstd(&[0xa0, 0, 0, 0, 0x40]), says_window(8)),
        attack("zstd, 8 MiB", "zstd", zstd(&[0x00, 0x68]), None),
        attack("brotli, 1 GiB", "br", brotli(0x11 | (30 << 8), 14), says_window(16)),
        attack("brotli, 16 MiB", "br", brotli(0b1111, 4), None),
        attack("gzip, 100 MiB", "gzip", gzip(&vec![b'a'; MIB]), None),
        attack("gzip in gzip", "gzip, gzip", gzip(&gzip(&vec![b'a'; MIB])), None),
        attack("bytes that are no text", "identity", vec![0xff; MIB], None),
        attack(
            "a list of a million numbers",
            "identity",
            [b"[".to_vec(), b"0,".repeat(MIB / 2 - 2), b"0]".to_vec()].concat(),
            None,
        ),
    ]
}

#[tokio::test]
async fn no_body_costs_more_than_two_mebibytes() {
    let _alone = COUNTING.lock().await;
    let toolbox = toolbox();
    let conditions = [condition("body", "contains", &json!("needle")), condition("json.0", "eq", &json!(1))];
    let config = json!({ "conditions": conditions });
    for attack in attacks() {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {}\r\nContent-Length: {}\r\n\r\n",
            attack.coding,
            attack.body.len()
        );
        let server = Server::answering([head.into_bytes(), attack.body].concat()).await;
        let mut check = http(&server.url("/"), &config);
        check.timeout = Duration::from_secs(20);
        // The server before this one has been told to end; its memory is freed when the runtime drops it.
        tokio::time::sleep(Duration::from_millis(20)).await;
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let outcome = probe::run(&check, &toolbox).await;
        let extra = ALLOCATOR.peak_usage().saturating_sub(before);
        println!("{}: {} KiB", attack.name, extra >> 10);
        assert!(extra <= EXTRA_MAX_BYTES, "{}: {} KiB", attack.name, extra >> 10);
        let CheckOutcome::Measured(measured) = outcome else { panic!("{}: {outcome:?}", attack.name) };
        let message = measured.failure.map_or_else(String::new, |failure| failure.message.to_string());
        assert!(message.contains(attack.says.unwrap_or_default()), "{}: {message:?}", attack.name);
    }
}

/// As many links as a template can hold.
fn chain(head: &str, link: &str, tail: &str) -> String {
    let count = (TEMPLATE_LENGTH - head.chars().count() - tail.chars().count()) / link.chars().count();
    format!("{head}{}{tail}", link.repeat(count))
}

#[test]
fn no_template_costs_more_than_eight_mebibytes() {
    let text = "\u{1}ß🚨\"".repeat(10_000);
    let facts = json!({"t": text, "l": vec![json!({"name": "n".repeat(255)}); 200], "a": 1});
    let facts = facts.as_object().unwrap();
    let _alone = COUNTING.blocking_lock();
    for template in [
        chain("", "🚨", ""),
        chain("", "{{a}}", ""),
        chain("", "{{''}}", ""),
        chain("{{a", "+a", "}}"),
        chain("{{a", " or a", "}}"),
        chain("{{(a", ".a", ")is defined}}"),
        chain("{{(l", "[0]", ")is defined}}"),
        chain("{{a", "|trim", "}}"),
        chain("{{a", "|default(a)", "}}"),
        chain("{{a|default(a", ",a", ")}}"),
        chain("{% if 0 %}", "{%elif 0%}", "{%endif%}"),
        chain("", "{%if 0%}{%endif%}", ""),
        chain("{{ '", "\\n", "' }}"),
        chain("{{ t", "|tojson", "}}"),
        chain("{{ t", "~t", "}}"),
        chain("{{ t", "|upper", "}}"),
        chain("{{ t", "|urlencode", "}}"),
        chain("{% for x in l %}", "{{ t }}", "{% endfor %}"),
        chain("{% for x in l %}", "🚨", "{% endfor %}"),
        chain(
            "{% for x in l %}{% for y in l %}{% for z in l %}",
            "{{ z.name }}",
            "{% endfor %}{% endfor %}{% endfor %}",
        ),
    ] {
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let filled = MessageTemplate::parse(&template)
            .and_then(|template| template.render(facts, &mut WorkMeter::default()));
        let extra = ALLOCATOR.peak_usage().saturating_sub(before);
        let name: String = template.chars().take(60).collect();
        println!("{name}: {} KiB, {:?}", extra >> 10, filled.map(|text| text.len()));
        assert!(extra <= TEMPLATE_MAX_BYTES, "{name}: {} KiB", extra >> 10);
    }
}

/// Organisations of a hundred incidents each: of no service, of forty without configuration, of forty with 200 KB each.
const OWNERS: [i64; 3] = [1, 2, 3];

async fn store_incidents(main: &Database) {
    let owner = |key: i64| organisation::ActiveModel {
        id: Set(key),
        public_id: Set(Id::random().to_string()),
        name: Set("Shop".into()),
        plan: Set("business".into()),
        self_hosted: Set(true),
        locales: Set(r#"["en"]"#.into()),
        default_locale: Set("en".into()),
        created_at: Set(0),
    };
    let shop = |key: i64| service::ActiveModel {
        id: Set(key),
        public_id: Set(Id::random().to_string()),
        organisation_id: Set(if key > 40 { OWNERS[2] } else { OWNERS[1] }),
        name: Set(format!("shop {key}")),
        check_type: Set("http".into()),
        config: Set((key > 40).then(|| json!({ "body": "x".repeat(200_000) }).to_string())),
        created_at: Set(0),
        updated_at: Set(0),
        revision: Set(1),
        ..Default::default()
    };
    let slow = |key: i64| incident::ActiveModel {
        id: Set(key),
        public_id: Set(Id::random().to_string()),
        organisation_id: Set((key - 1) / 100 + 1),
        title: Set(r#"{"en":"Slow"}"#.into()),
        kind: Set("standard".into()),
        status: Set("identified".into()),
        severity: Set("major".into()),
        is_published: Set(true),
        started_at: Set(key),
        sla_counts_as_downtime: Set(true),
        created_at: Set(0),
        updated_at: Set(0),
        ..Default::default()
    };
    let link = |incident_id: i64, service_id: i64| incident_service::ActiveModel {
        incident_id: Set(incident_id),
        service_id: Set(service_id),
        is_derived: Set(true),
        added_at: Set(0),
        ..Default::default()
    };
    let transaction = main.begin().await.unwrap();
    organisation::Entity::insert_many(OWNERS.map(owner)).exec(&transaction).await.unwrap();
    service::Entity::insert_many((1..=80).map(shop)).exec(&transaction).await.unwrap();
    incident::Entity::insert_many((1..=300).map(slow)).exec(&transaction).await.unwrap();
    for incident in 101..=300 {
        let first = if incident > 200 { 41 } else { 1 };
        let links = (first..first + 40).map(|service| link(incident, service));
        incident_service::Entity::insert_many(links).exec(&transaction).await.unwrap();
    }
    transaction.commit().await.unwrap();
}

/// Reads the first hundred incidents of an owner; returns how many services they affect together.
async fn count_affected(main: &Database, owner: i64) -> usize {
    let window = PageWindow { offset: 0, limit: 100 };
    let filter = IncidentFilter::default();
    let (incidents, _) = page(main.reader(), Visibility::whole(owner), &filter, window).await.unwrap();
    assert_eq!(incidents.len(), 100);
    incidents.iter().map(|(_, services)| services.len()).sum()
}

#[tokio::test]
async fn a_list_of_incidents_does_not_read_service_configurations() {
    let _alone = COUNTING.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let [main, history] = ["main.db", "history.db"].map(|name| sqlite_url(&folder.path().join(name)));
    let databases = Databases::open(&main, &history, &StoreLimits::default()).await.unwrap();
    store_incidents(&databases.main).await;
    let mut best = [Duration::MAX; 3];
    let [of_plain, of_bare] = LIST_TIMES_MAX;
    let is_within = |[bare, plain, configured]: [Duration; 3]| {
        configured <= of_plain * plain && configured <= of_bare * bare
    };
    // A machine that is busy with something else only adds to a time, so the shortest of many rounds is the list's own.
    for round in 1..=LIST_ROUNDS_MAX {
        if round > LIST_ROUNDS_MIN && is_within(best) {
            break;
        }
        for (place, owner) in OWNERS.into_iter().enumerate() {
            ALLOCATOR.reset_peak_usage();
            let (before, begun) = (ALLOCATOR.current_usage(), Instant::now());
            let affected = if place == 0 { 0 } else { 4_000 };
            assert_eq!(count_affected(&databases.main, owner).await, affected);
            best[place] = best[place].min(begun.elapsed());
            let extra = ALLOCATOR.peak_usage().saturating_sub(before);
            assert!(extra <= LIST_MAX_BYTES, "{} KiB", extra >> 10);
        }
    }
    println!("no services, forty without configuration, forty with it: {best:?}");
    assert!(is_within(best), "{best:?}");
}

/// A service like many others, with three tags.
fn listed_service(number: usize) -> FleetFacts {
    let settings = SettingsOutline {
        interval_seconds: 60,
        timeout_seconds: 10,
        retries: 2,
        assigned_probes: None,
        recovery_checks: 1,
    };
    let key = i64::try_from(number).unwrap();
    let outline = ServiceOutline {
        key,
        id: Id::random(),
        organisation: 1,
        name: format!("Checkout Europe {number:06}"),
        check_type: CheckType::Http,
        target: Some(format!("https://checkout-{number:06}.eu.example.com/health")),
        settings: Some(settings),
        pause: None,
        status_override: None,
        created_at: Timestamp::from_ms(key),
    };
    let measured = MeasuredState { is_answered: true, ..MeasuredState::default() };
    let tags = vec![key % 40, 40 + key % 5, 50 + key % 3];
    FleetFacts { outline, tags, maintenance_since: None, incident: IncidentPresence::Absent, measured }
}

/// Runs a test once more, in a process of its own: the other tests of this one allocate while they wait for their turn. Returns
/// true in that process.
fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let output = alone.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    false
}

#[test]
fn a_view_takes_two_hundred_bytes_a_service() {
    if !is_alone("a_view_takes_two_hundred_bytes_a_service") {
        return;
    }
    let at = Timestamp::from_ms(0);
    let tag = |row: i64| Tag { row, ..Tag::new(1, format!("tag:{row}").parse().unwrap(), None, at) };
    let tags: Vec<Tag> = (0..53).map(tag).collect();
    let before = ALLOCATOR.current_usage();
    let view = FleetView::of_services((0..VIEW_SERVICES).map(listed_service), &tags, Vec::new(), at);
    let bytes = ALLOCATOR.current_usage().saturating_sub(before);
    println!(
        "{} bytes a service, {} of them counted by the view",
        bytes / VIEW_SERVICES,
        view.bytes() / VIEW_SERVICES
    );
    assert_eq!(view.len(), VIEW_SERVICES);
    assert!(bytes <= VIEW_MAX_BYTES, "{bytes} bytes");
}
