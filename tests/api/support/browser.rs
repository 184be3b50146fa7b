//! A real browser (Debian's chromium), driven over WebDriver (W3C) by chromium-driver.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// Longest wait for an answer of the driver; only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Number of times that keys are sent, or a click is tried, until an element takes them; each is two requests to the driver.
const KEY_TRIES: usize = 1_000;
/// Number of drivers that are started until one listens.
const DRIVER_STARTS: usize = 10;

/// A browser that was started for a test.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
}

/// A driver that listens.
struct BrowserDriver {
    process: Child,
    port: u16,
}

impl BrowserDriver {
    /// Starts a driver; `None` where the program is missing. A driver listens on one free port of both IPv4 and IPv6, and ends
    /// when another program has taken the port of the second one meanwhile: then another driver is started.
    fn start() -> Option<Self> {
        let mut output = String::new();
        for _ in 0..DRIVER_STARTS {
            let mut process =
                Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn().ok()?;
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            let port = lines.by_ref().map(Result::unwrap).find_map(|line| {
                output.push_str(&line);
                output.push('\n');
                let (_, rest) = line.split_once("started successfully on port ")?;
                rest.trim_end_matches('.').parse::<u16>().ok()
            });
            if let Some(port) = port {
                // What the driver prints later must not block it.
                std::thread::spawn(move || lines.for_each(drop));
                return Some(Self { process, port });
            }
            let _ = process.wait();
        }
        panic!("no driver of the browser has started:\n{output}");
    }
}

/// Settings of a browser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BrowserOptions {
    pub(crate) width: u32,
    pub(crate) runs_scripts: bool,
}

impl Browser {
    /// `None`, and a word about it, where chromium is missing.
    pub(crate) fn start(options: BrowserOptions) -> Option<Self> {
        let Some(BrowserDriver { process, port }) = BrowserDriver::start() else {
            let is_required = std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_BROWSER").is_some();
            assert!(!is_required, "chromedriver is missing: apt-get install chromium chromium-driver");
            eprintln!("SKIPPED: chromedriver is missing (apt-get install chromium chromium-driver)");
            return None;
        };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut browser = Self { driver: process, address, session: String::new() };
        let scripts = if options.runs_scripts { 1 } else { 2 };
        let made = browser.ask(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {
                    "args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        "--host-resolver-rules=MAP *.example 127.0.0.1:9",
                        format!("--window-size={},900", options.width)],
                    "prefs": {"profile.managed_default_content_settings.javascript": scripts,
                        "intl.accept_languages": "en"},
                },
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }}}),
        );
        browser.session = format!("/session/{}", made["sessionId"].as_str().unwrap());
        Some(browser)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.try_to_ask(method, path, body);
        assert_eq!(status, 200, "{path}: {answer}");
        answer["value"].clone()
    }

    fn try_to_ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let text = if method == "POST" { body.to_string() } else { String::new() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            text.len()
        );
        self.exchange(&(head + &text))
    }

    /// Sends a request and reads the answer. The driver does not close the connection.
    fn exchange(&self, request: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.trim_end().split_once([' ', ':']) {
                None => break,
                Some(("HTTP/1.1", rest)) => status = rest[..3].parse().unwrap(),
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap();
                }
                Some(_) => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn command(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("{}{path}", self.session), body)
    }

    /// Loads a page.
    pub(crate) fn visit(&self, url: &str) {
        self.command("/url", &json!({"url": url}));
    }

    /// Opens a tab and loads a page in it, to which later commands apply.
    pub(crate) fn visit_in_new_tab(&self, url: &str) {
        let tab = self.command("/window/new", &json!({"type": "tab"}));
        self.command("/window", &json!({"handle": tab["handle"]}));
        self.visit(url);
    }

    /// The value of an expression in the page; a promise is awaited.
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.run(&format!("return {expression}"))
    }

    /// Runs a script in the page, outside of its content security policy.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Calls a function with one argument in the page, outside of its content security policy.
    pub(crate) fn call(&self, script: &str, argument: &Value) -> Value {
        self.command("/execute/sync", &json!({"script": script, "args": [argument]}))
    }

    /// Sends a command of the Chrome DevTools protocol.
    pub(crate) fn command_devtools(&self, name: &str, parameters: &Value) -> Value {
        self.command("/goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    /// Adds a virtual device for passkeys, whose owner always confirms (WebAuthn level 2, section 11).
    pub(crate) fn add_authenticator(&self) {
        let device = json!({"protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
            "hasUserVerification": true, "isUserConsenting": true, "isUserVerified": true});
        self.command("/webauthn/authenticator", &device);
    }

    /// Sends keys to the element that has the focus. While the page moves the focus, for example out of a dialog that closes,
    /// the element that had it takes no keys: then they are sent again.
    pub(crate) fn press(&self, keys: &str) {
        for _ in 0..KEY_TRIES {
            let element = self.ask("GET", &format!("{}/element/active", self.session), &Value::Null);
            let id = element.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
            let path = format!("{}/element/{id}/value", self.session);
            let (status, answer) = self.try_to_ask("POST", &path, &json!({"text": keys}));
            if status == 200 {
                return;
            }
            let error = answer["value"]["error"].as_str();
            let is_moving = matches!(error, Some("element not interactable" | "stale element reference"));
            assert!(is_moving, "{keys:?}: {answer}");
        }
        panic!("no element took {keys:?}");
    }

    /// Clicks on the first element that a selector finds. While a document takes the place of another one, the element may be
    /// found in the earlier one: then it is looked for again.
    pub(crate) fn click(&self, selector: &str) {
        for _ in 0..KEY_TRIES {
            let found = self.command("/element", &json!({"using": "css selector", "value": selector}));
            let id = found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
            let (status, answer) =
                self.try_to_ask("POST", &format!("{}/element/{id}/click", self.session), &json!({}));
            if status == 200 {
                return;
            }
            assert_eq!(answer["value"]["error"], "stale element reference", "{selector}: {answer}");
        }
        panic!("{selector} could not be clicked");
    }

    /// The HTML of the page as it is now, which needs no script.
    pub(crate) fn source(&self) -> String {
        self.ask("GET", &format!("{}/source", self.session), &Value::Null).as_str().unwrap().to_owned()
    }

    /// The addresses of the requests since the last call, in the order in which they were sent.
    pub(crate) fn requests(&self) -> Vec<String> {
        let entries = self.command("/se/log", &json!({"type": "performance"}));
        let request = |entry: &Value| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let sent = &message["message"];
            let is_request = sent["method"] == "Network.requestWillBeSent";
            is_request.then(|| sent["params"]["request"]["url"].as_str().unwrap_or_default().to_owned())
        };
        entries.as_array().unwrap().iter().filter_map(request).collect()
    }

    /// Errors that the browser has reported since the last call, such as violations of the content security policy.
    pub(crate) fn errors(&self) -> Vec<String> {
        let entries = self.command("/se/log", &json!({"type": "browser"}));
        let severe = |entry: &&Value| entry["level"] == "SEVERE";
        let message = |entry: &Value| entry["message"].as_str().unwrap().to_owned();
        entries.as_array().unwrap().iter().filter(severe).map(message).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", &self.session, &Value::Null);
        }
        let _ = Command::new("pkill").args(["-P", &self.driver.id().to_string()]).status();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
