//! Redirects: where they may lead, and what is taken along (contract 4.2.2; reliability 28, 29).

use rstest::rstest;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use watchkeeper::model::check::{CheckStatus, ErrorCode};

use crate::support::server::Server;
use crate::support::{UP, condition, down, http, measure, toolbox, verdict};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

fn to(location: &str) -> String {
    format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

/// Redirects `/` to `/1`, `/1` to `/2` and so on, until `/last`.
async fn stairs(last: usize) -> Server {
    Server::start(move |mut stream, visit| async move {
        let request = visit.request(&mut stream).await;
        let path = request.split(' ').nth(1).unwrap();
        let step: usize = path[1..].parse().unwrap_or(0);
        let response = if step < last { to(&format!("/{}", step + 1)) } else { OK.to_owned() };
        stream.write_all(response.as_bytes()).await.unwrap();
    })
    .await
}

#[tokio::test]
async fn ten_redirects_are_followed_and_counted() {
    let server = stairs(10).await;
    let config = json!({ "conditions": [
        condition("metadata.redirects_followed", "neq", &json!(10)),
        condition("metadata.final_url", "not_contains", &json!("/10")),
        condition("status_code", "neq", &json!(200)),
    ] });
    assert_eq!(verdict(&measure(&http(&server.url("/"), &config), &toolbox()).await), UP);
    assert_eq!(server.requests().len(), 11);
}

#[tokio::test]
async fn the_eleventh_redirect_is_too_many() {
    let server = stairs(11).await;
    let measured = measure(&http(&server.url("/"), &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), down(ErrorCode::HttpRedirectLoop));
    assert_eq!(server.requests().len(), 11);
}

#[tokio::test]
async fn a_redirect_is_the_response_when_redirects_are_off() {
    let server = stairs(1).await;
    let measured = measure(&http(&server.url("/"), &json!({ "follow_redirects": false })), &toolbox()).await;
    assert_eq!((verdict(&measured), measured.status_code), (UP, Some(307)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn another_origin_gets_no_secrets() {
    let stranger = Server::answering(OK).await;
    let server = Server::answering(to(&stranger.url("/"))).await;
    let config = json!({
        "method": "POST",
        "headers": { "X-Key": "marker-1", "Cookie": "marker-2", "Host": "marker-3.test" },
        "auth": { "type": "bearer", "token": "marker-4" },
        "body": "marker-5",
    });
    assert_eq!(verdict(&measure(&http(&server.url("/"), &config), &toolbox()).await), UP);
    let (sent, leaked) = (server.requests().remove(0), stranger.requests().remove(0));
    assert_eq!(sent.matches("marker-").count(), 5, "{sent}");
    assert_eq!(leaked.matches("marker-").count(), 0, "{leaked}");
    assert!(leaked.contains(&format!("\r\nhost: {}\r\n", stranger.address)), "{leaked}");
}

#[tokio::test]
async fn the_same_origin_gets_the_configured_host_again() {
    let server = stairs(1).await;
    let config = json!({ "headers": { "Host": "shop.test" } });
    assert_eq!(verdict(&measure(&http(&server.url("/"), &config), &toolbox()).await), UP);
    assert!(server.requests().iter().all(|request| request.contains("\r\nhost: shop.test\r\n")));
}

#[tokio::test]
async fn dropped_headers_are_not_sent_after_a_return() {
    let home = Server::start(|mut stream, visit| async move {
        let request = visit.request(&mut stream).await;
        let elsewhere = request.lines().next().unwrap().split("to=").nth(1);
        let response = match elsewhere.and_then(|rest| rest.split(' ').next()) {
            Some(address) => to(&format!("http://{address}/")),
            None => OK.to_owned(),
        };
        stream.write_all(response.as_bytes()).await.unwrap();
    })
    .await;
    let mirror = Server::answering(to(&home.url("/home"))).await;
    let config = json!({ "headers": { "X-Key": "marker" } });
    let target = home.url(&format!("/?to={}", mirror.address));
    assert_eq!(verdict(&measure(&http(&target, &config), &toolbox()).await), UP);
    let requests = home.requests();
    assert!(requests[0].contains("marker") && !requests[1].contains("marker"), "{requests:?}");
}

#[rstest]
#[case("http://169.254.169.254/latest/meta-data/", ErrorCode::TargetBlocked)]
#[case("http://[fd00:ec2::254]/", ErrorCode::TargetBlocked)]
#[case("http://[::ffff:a9fe:a9fe]/", ErrorCode::TargetBlocked)]
#[case("http://0xa9fea9fe/", ErrorCode::TargetBlocked)]
#[case("http://2852039166/", ErrorCode::TargetBlocked)]
#[case("file:///etc/passwd", ErrorCode::HttpProtocol)]
#[case("gopher://127.0.0.1:6379/_x", ErrorCode::HttpProtocol)]
#[case("http://", ErrorCode::HttpProtocol)]
#[tokio::test]
async fn a_redirect_passes_the_gate_again(#[case] location: &str, #[case] code: ErrorCode) {
    let server = Server::answering(to(location)).await;
    let measured = measure(&http(&server.url("/"), &json!({})), &toolbox()).await;
    assert_eq!(verdict(&measured), down(code));
}

/// RFC 6265, sections 5.2 to 5.4: some sites set a cookie and redirect the visitor to the same address.
#[rstest]
#[case::to_itself(&[("/", "", "seen=1; Path=/", "/"), ("/", "seen=1", "", "")], UP)]
#[case::by_another_way(
    &[("/", "", "", "/login"), ("/login", "", "seen=1; Path=/", "/"), ("/", "seen=1", "", "")],
    UP
)]
#[case::replaced(&[("/", "", "n=1", "/"), ("/", "n=1", "n=2", "/"), ("/", "n=2", "", "")], UP)]
#[case::a_circle(&[("/", "", "", "/")], down(ErrorCode::HttpRedirectLoop))]
#[case::a_circle_with_a_cookie(
    &[("/", "", "n=1", "/"), ("/", "n=1", "n=1", "/")],
    down(ErrorCode::HttpRedirectLoop)
)]
#[case::a_cookie_for_another_path(&[("/", "", "n=1; Path=/x", "/")], down(ErrorCode::HttpRedirectLoop))]
#[tokio::test]
async fn cookies_are_sent_to_the_redirect_target(
    #[case] steps: &'static [(&str, &str, &str, &str)],
    #[case] expected: (CheckStatus, Option<ErrorCode>),
) {
    let server = Server::start(move |mut stream, visit| async move {
        let request = visit.request(&mut stream).await;
        let path = request.split(' ').nth(1).unwrap();
        let cookie =
            request.split("\r\ncookie: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let step = steps.iter().find(|step| (step.0, step.1) == (path, cookie));
        let response = match step {
            Some((_, _, "", "")) => OK.to_owned(),
            Some((_, _, "", location)) => to(location),
            Some((_, _, set, location)) => {
                to(location).replacen("\r\n", &format!("\r\nSet-Cookie: {set}\r\n"), 1)
            }
            None => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
        };
        stream.write_all(response.as_bytes()).await.unwrap();
    })
    .await;
    assert_eq!(verdict(&measure(&http(&server.url("/"), &json!({})), &toolbox()).await), expected);
    assert_eq!(server.requests().len(), steps.len());
}
