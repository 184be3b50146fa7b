//! The cookie of a session. It is sent only to the console, so it can never authenticate a request to the API.

use actix_web::http::header::{self, HeaderMap};

use crate::model::console_session::{SESSION_MS, SESSION_PREFIX};
use crate::model::token::TokenText;

/// Name of the cookie over plain HTTP. Over HTTPS it has a prefix that browsers accept only with `Secure`.
const NAME: &str = "watchkeeper-console";
const SECURE_NAME: &str = "__Secure-watchkeeper-console";
const ATTRIBUTES: &str = "Path=/console; HttpOnly; SameSite=Strict";

/// Returns the value of `Set-Cookie` for a session with this secret.
pub(super) fn set(secret: &TokenText, is_secure: bool) -> String {
    let (name, ending) = named(is_secure);
    format!("{name}={}; {ATTRIBUTES}; Max-Age={}{ending}", secret.expose(), SESSION_MS / 1_000)
}

/// Returns the value of `Set-Cookie` that removes the cookie.
pub(super) fn removed(is_secure: bool) -> String {
    let (name, ending) = named(is_secure);
    format!("{name}=; {ATTRIBUTES}; Max-Age=0{ending}")
}

/// Returns the secrets in the cookies of a request: usually one.
pub(super) fn secrets(headers: &HeaderMap) -> impl Iterator<Item = TokenText> {
    let lines = headers.get_all(header::COOKIE).filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let own = pairs.filter(|(name, _)| matches!(*name, NAME | SECURE_NAME));
    own.filter_map(|(_, value)| TokenText::parse(SESSION_PREFIX, value))
}

const fn named(is_secure: bool) -> (&'static str, &'static str) {
    if is_secure { (SECURE_NAME, "; Secure") } else { (NAME, "") }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn a_cookie_is_for_the_console_alone() {
        let secret = TokenText::random(SESSION_PREFIX);
        let plain = set(&secret, false);
        assert!(plain.contains("; Path=/console; HttpOnly; SameSite=Strict; Max-Age=7776000"), "{plain}");
        let secure = set(&secret, true);
        assert!(secure.starts_with("__Secure-") && secure.ends_with("; Secure"), "{secure}");
        for cookie in [plain, secure] {
            let mut headers = HeaderMap::new();
            let line = format!("other=1; {}", cookie.split(';').next().unwrap());
            headers.insert(header::COOKIE, HeaderValue::from_str(&line).unwrap());
            assert_eq!(secrets(&headers).next().as_ref(), Some(&secret));
        }
        assert!(removed(true).contains("=; Path=/console"));
    }
}
