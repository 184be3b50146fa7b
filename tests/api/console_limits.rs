//! Limits of the console: how many requests a user and an address may make, and what a password that was replaced still opens.

use serde_json::json;

use crate::support::client::Answer;
use crate::support::console::{ConsoleUser, OWN_ORIGIN, PASSWORD, cookie_of, send_form};
use crate::support::event_reader::EventReader;
use crate::support::server::Server;

/// More requests than a window permits; a window that ends meanwhile is followed by the next.
const ENOUGH: usize = 1_000;

fn until_refused(request: impl Fn() -> Answer, usual: u16) -> Answer {
    for _ in 0..ENOUGH {
        let answer = request();
        if answer.status == 429 {
            return answer;
        }
        assert_eq!(answer.status, usual, "{}", answer.body);
    }
    panic!("no request was refused");
}

#[test]
fn requests_of_users_and_strangers_are_limited() {
    let server = Server::with("", &[("WATCHKEEPER_RATE_LIMIT_PER_MINUTE", "20")]);
    let client = server.client();
    let [user, other] = ["viewer", "viewer"].map(|role| ConsoleUser::invited(&client, role));
    let refused = until_refused(|| user.get("/settings"), 200);
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    assert!(refused.body.contains("There were too many requests."), "{}", refused.body);
    // Another user, the stream and the requests of open screens have limits of their own, static files none.
    other.get("/settings").expect(200);
    let lines = ["Host: localhost", &user.cookie()];
    EventReader::open(&client, "/console/events", &lines).next("hello");
    let live = [user.cookie(), "Console-Change: 0".to_owned()];
    let live: Vec<&str> = live.iter().map(String::as_str).collect();
    let stranger = client.without_token();
    stranger.send("GET", "/console/services", &live, b"").expect(200);
    // Documents that are made for one user are not requests of open screens, whatever the header says.
    until_refused(|| stranger.send("GET", "/console/settings", &live, b""), 200);
    user.get("/static/console.0123.js").expect(200);

    let sign_in = || stranger.send("GET", "/console/sign-in", &[], b"");
    let refused = until_refused(sign_in, 200);
    assert!(refused.header("retry-after").is_some());
    // A session is found although strangers at the same address have used up the window.
    other.get("/settings").expect(200);
    // The screen of a refused wall is loaded again by itself.
    let wall = until_refused(|| stranger.send("GET", "/console/wall?key=unknown", &[], b""), 404);
    assert_eq!(wall.header("refresh"), Some("30"));
}

/// Signs in with the old password while a new one is chosen: the session is ended with the others, or is not begun.
#[test]
fn a_replaced_password_leaves_no_session() {
    let server = Server::start();
    let client = server.client();
    ConsoleUser::with(&client, &json!({"email": "anna@example.com", "role": "viewer"}));
    let user = client.get("/v1/users").expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    let mut old = PASSWORD.to_owned();
    for round in 0..8 {
        let new = format!("correct horse {round}");
        let link = client.post(&format!("/v1/users/{user}/reset"), &json!({})).expect(200).data();
        let link = link["link"].as_str().unwrap();
        let ticket = link.split_once("ticket=").unwrap().1;
        let choose = || {
            let fields = [("ticket", ticket), ("password", &*new)];
            send_form(&client, "/console/welcome", &fields, &[OWN_ORIGIN]).expect(303)
        };
        let sign_in = || {
            let fields = [("email", "anna@example.com"), ("password", &*old)];
            send_form(&client, "/console/sign-in", &fields, &[OWN_ORIGIN])
        };
        let (chosen, signed_in) = std::thread::scope(|scope| {
            let choosing = scope.spawn(choose);
            let signing_in = scope.spawn(sign_in);
            (choosing.join().unwrap(), signing_in.join().unwrap())
        });
        let settings = |answer: &Answer| {
            let cookie = format!("Cookie: {}", cookie_of(answer));
            client.without_token().send("GET", "/console/settings", &[&cookie], b"").status
        };
        assert_eq!(settings(&chosen), 200);
        match signed_in.status {
            303 => assert_eq!(settings(&signed_in), 303, "round {round}: the session was ended"),
            status => assert_eq!(status, 401, "{}", signed_in.body),
        }
        old = new;
    }
}
