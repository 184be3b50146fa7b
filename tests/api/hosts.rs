//! The host of a request: which one counts, which ones are refused, and where the front page is.

use serde_json::json;

use crate::support::client::exchange;
use crate::support::pages::{create_page, get_at as get, host_of};
use crate::support::server::Server;

/// The front page is on the hosts of the installation alone.
#[test]
fn the_front_page_is_where_the_api_is() {
    let client = Server::shared_client();
    for host in ["localhost", "127.0.0.1", "[::1]:80", "LOCALHOST", "localhost.:80"] {
        let page = get(&client, host, "/").expect(200);
        assert!(page.body.contains("<html") && page.body.contains("/docs"), "{host}: {}", page.body);
    }
    for host in ["unknown.example.com", "intranet", "intranet:8080"] {
        get(&client, host, "/").expect(404);
        get(&client, host, "/healthz").expect(200);
    }
}

/// RFC 9112, section 3.2: a request without a valid host is refused, whatever its path.
#[test]
fn a_request_needs_a_valid_host() {
    let client = Server::shared_client();
    let ask = |head: &[u8]| exchange(client.address, &[head, b"Connection: close\r\n\r\n"].concat());
    let (label, name) = ("a".repeat(64), "a.".repeat(130));
    let odd: [&[u8]; 8] =
        [b"[::1", b"a\xfc.example", b"\xff", b"a b", b"user@a", b"a:b", label.as_bytes(), name.as_bytes()];
    for host in odd {
        for path in ["/", "/healthz", "/v1/me", "/nothing"] {
            let head = [b"GET ", path.as_bytes(), b" HTTP/1.1\r\nHost: ", host, b"\r\n"].concat();
            let refused = ask(&head).expect(400);
            assert!(refused.message().contains("valid host"), "{refused:?}");
        }
    }
    ask(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n").expect(400);
    ask(b"GET /healthz HTTP/1.1\r\n").expect(400);
    ask(b"GET /healthz HTTP/1.0\r\n").expect(200);
    ask(b"GET /healthz HTTP/1.1\r\nHost:\r\n").expect(200);
}

/// RFC 9112, section 3.2.2: the host of the target takes precedence over the header.
#[test]
fn an_absolute_target_selects_the_page() {
    let client = Server::shared_client();
    let host = host_of(&create_page(&client, &json!({"name": "Absolute"})));
    let ask = |target: &str, host: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        exchange(client.address, head.as_bytes())
    };
    let own = get(&client, &host, "/robots.txt").expect(200);
    assert_eq!(ask(&format!("http://{host}/robots.txt"), "localhost").expect(200).body, own.body);
    assert!(ask("http://localhost/", &host).expect(200).body.contains("/docs"), "it is the front page");
    ask("http://unknown.example.com/", "localhost").expect(404);
    ask("http://localhost/", "[::1").expect(400);
}
