//! An export in a real browser, from a disk and from a web server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::page_export::place::{Export, RichPage};
use crate::support::browser::{Browser, BrowserOptions};
use crate::support::eventually;
use crate::support::moments::in_ms;
use crate::support::server::Server;

const DESKTOP: BrowserOptions = BrowserOptions { width: 1_280, runs_scripts: true };

/// Waits until an expression in the page has this value.
async fn until(browser: &Browser, expression: &str, wanted: &Value) {
    let mut last = Value::Null;
    let look = || {
        last = browser.value(expression);
        (last == *wanted).then_some(())
    };
    eventually(&format!("{expression} is {wanted}"), look).await;
}

#[tokio::test]
async fn an_export_works_from_a_disk() {
    let server = Server::shared();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let page = RichPage::create(&server.bilingual_tenant()).await;
    let export = Export::place();
    export.make(&server, &page.slug);
    browser.visit(&export.address("index.html"));
    works(&browser, &page).await;
    let component = format!("/components/{}/index.html", page.component);
    assert!(browser.value("location.href").as_str().unwrap().starts_with("file://"));
    // The small document for frames, and a document without another one around it.
    for file in ["embed/index.html", &component[1..], "de/appearance-dark.html"] {
        browser.visit(&export.address(file));
        until(&browser, "document.readyState", &json!("complete")).await;
        assert_eq!(browser.errors(), Vec::<String>::new(), "{file}");
    }
    assert_eq!(browser.value("document.documentElement.dataset.theme"), json!("dark"));
}

#[tokio::test]
async fn an_export_works_from_any_web_server() {
    let server = Server::shared();
    let Some(browser) = Browser::start(DESKTOP) else { return };
    let page = RichPage::create(&server.bilingual_tenant()).await;
    let export = Export::place();
    export.make(&server, &page.slug);
    let address = serve(export.folder.clone());
    browser.visit(&format!("http://{address}/index.html"));
    works(&browser, &page).await;
    // A day of a bar comes from the document of the component.
    browser.visit(&format!("http://{address}/en/index.html"));
    browser.run("document.querySelector('a.bar').focus()");
    browser.press("\u{e010}");
    let line =
        "document.querySelector('a.bar').nextElementSibling.querySelector('[role=status]').textContent";
    let today = in_ms(0).date();
    until(&browser, &format!("{line}.startsWith('{today}: Operational, 100 %')"), &json!(true)).await;
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Checks the root document and the way to a component and back.
async fn works(browser: &Browser, page: &RichPage) {
    until(browser, "document.querySelectorAll('a.bar[data-ready]').length", &json!(1)).await;
    for (expression, wanted) in [
        ("getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()", json!("#f6f7f9")),
        (
            "getComputedStyle(document.querySelector('main')).getPropertyValue('--copied').trim()",
            json!("yes"),
        ),
        ("document.querySelector('img.logo').naturalWidth", json!(40)),
        ("[...document.querySelectorAll('time')].every((time) => time.title.endsWith('UTC'))", json!(true)),
        ("document.querySelector('.as-of') !== null", json!(true)),
        ("'live' in document.body.dataset", json!(false)),
    ] {
        assert_eq!(browser.value(expression), wanted, "{expression}");
    }
    browser.run("document.querySelector('a.bar').focus()");
    browser.press("\u{e010}");
    let line =
        "document.querySelector('a.bar').nextElementSibling.querySelector('[role=status]').textContent";
    until(browser, &format!("{line}.startsWith('{}')", in_ms(0).date()), &json!(true)).await;
    browser.press("\u{e007}");
    let component = format!("/en/components/{}/index.html", page.component);
    until(browser, &format!("location.pathname.endsWith('{component}')"), &json!(true)).await;
    until(browser, "document.querySelectorAll('tbody tr').length > 0", &json!(true)).await;
    browser.click(".home a");
    until(browser, "location.pathname.endsWith('/en/index.html')", &json!(true)).await;
    browser.click("footer a[lang=de]");
    until(browser, "document.documentElement.lang", &json!("de")).await;
    browser.click("h3 a");
    until(browser, "document.querySelectorAll('article.single').length", &json!(1)).await;
    // The browser asks for this missing picture of the operator's own style at the original page.
    let errors: Vec<String> =
        browser.errors().into_iter().filter(|line| !line.contains("nothing.png")).collect();
    assert_eq!(errors, Vec::<String>::new());
}

/// Serves the files of a folder as the simplest web servers do, as long as the test process lives.
fn serve(folder: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                head.extend(byte);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let path = head.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap().to_owned();
            let content = fs::read(folder.join(path.trim_start_matches('/')));
            let kind = match Path::new(&path).extension().and_then(|ending| ending.to_str()) {
                Some("html") => "text/html",
                Some("css") => "text/css",
                Some("js") => "text/javascript",
                Some("svg") => "image/svg+xml",
                _ => "application/octet-stream",
            };
            let (status, body) = content.map_or(("404 Not Found", Vec::new()), |content| ("200 OK", content));
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}
