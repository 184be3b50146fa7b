//! What a hostile answer may cost in memory (reliability 18): at most 2 MiB a check, whatever it promises. And what a hostile
//! template may: at most 8 MiB.
//!
//! A binary of its own, because it counts every allocation of the process.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

#[allow(dead_code, reason = "shared with the tests of the probe, which use all of it")]
#[path = "probe/support/mod.rs"]
mod support;

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use peak_alloc::PeakAlloc;
use serde_json::json;
use tokio::sync::Mutex;
use watchkeeper::model::check::Outcome;
use watchkeeper::notify::template::{MessageTemplate, TEMPLATE_LENGTH, WorkMeter};
use watchkeeper::probe;

use crate::support::server::Server;
use crate::support::{condition, http, toolbox};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
const EXTRA_MAX_BYTES: usize = 2 * MIB;
const TEMPLATE_MAX_BYTES: usize = 8 * MIB;

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
        // The server before this one has been told to end; its memory goes when the runtime comes by.
        tokio::time::sleep(Duration::from_millis(20)).await;
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let outcome = probe::run(&check, &toolbox).await;
        let extra = ALLOCATOR.peak_usage().saturating_sub(before);
        println!("{}: {} KiB", attack.name, extra >> 10);
        assert!(extra <= EXTRA_MAX_BYTES, "{}: {} KiB", attack.name, extra >> 10);
        let Outcome::Measured(measured) = outcome else { panic!("{}: {outcome:?}", attack.name) };
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
