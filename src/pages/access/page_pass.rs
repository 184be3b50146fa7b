//! The cookie of a visitor who has given the password of a page. It is signed with the key of the installation, and bound to
//! the page, to the present password and to a time.

use actix_web::http::header::{self, HeaderMap};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::clock::Timestamp;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::Statuspage;

/// Name of the cookie over plain HTTP. Over HTTPS it has a prefix that browsers accept only with `Secure` and `Path=/`.
const NAME: &str = "watchkeeper-page";
const SECURE_NAME: &str = "__Host-watchkeeper-page";
/// Purpose of the signature.
const PURPOSE: &str = "status page password";
/// Time for which a cookie is valid.
const LIFETIME_SECONDS: i64 = 30 * 24 * 60 * 60;

/// Issues and verifies the cookies of one page.
#[derive(Clone, Copy, Debug)]
pub(in crate::pages) struct PagePass<'a> {
    sealer: &'a SecretSealer,
    page: &'a Statuspage,
    /// Hash of the present password. It changes with every password, because each hash has a salt of its own.
    version: &'a str,
}

impl<'a> PagePass<'a> {
    /// The cookies of this page; `None` if it has no password.
    pub(in crate::pages) fn of(sealer: &'a SecretSealer, page: &'a Statuspage) -> Option<Self> {
        page.password_hash.as_deref().map(|version| Self { sealer, page, version })
    }

    /// Returns the value of `Set-Cookie` for a visitor who has given the password.
    pub(in crate::pages) fn cookie(&self, now: Timestamp, is_secure: bool) -> String {
        let until = now.plus_ms(LIFETIME_SECONDS * 1_000).ms();
        let signature = BASE64.encode(self.sealer.sign(PURPOSE, &self.message(until)));
        let (name, ending) = if is_secure { (SECURE_NAME, "; Secure") } else { (NAME, "") };
        format!(
            "{name}={until}.{signature}; Path=/; Max-Age={LIFETIME_SECONDS}; HttpOnly; SameSite=Lax{ending}"
        )
    }

    /// Returns true if the request has a valid cookie of this page.
    pub(in crate::pages) fn is_in(&self, headers: &HeaderMap, now: Timestamp) -> bool {
        let lines = headers.get_all(header::COOKIE).filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| matches!(name, NAME | SECURE_NAME) && self.is_valid(value, now))
    }

    fn is_valid(&self, value: &str, now: Timestamp) -> bool {
        let Some((until, signature)) = value.split_once('.') else { return false };
        let (Ok(until), Ok(signature)) = (until.parse::<i64>(), BASE64.decode(signature)) else {
            return false;
        };
        now.ms() < until && self.sealer.is_signed(PURPOSE, &self.message(until), &signature)
    }

    /// Returns what is signed.
    fn message(&self, until: i64) -> Vec<u8> {
        [self.page.id.as_str(), self.version, &until.to_string()].join("\0").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;
    use crate::model::translated_text::TranslatedText;

    const NOW: Timestamp = Timestamp::from_ms(1_795_193_460_250);

    fn page(version: Option<&str>) -> Statuspage {
        let mut page = Statuspage::new(1, TranslatedText::single("en", "Shop"), NOW);
        page.id = "VdEFUcSbBfwj_jz1uae-m".parse().unwrap();
        page.password_hash = version.map(str::to_owned);
        page
    }

    /// Returns whether this page admits a visitor with this `Cookie` line.
    fn admits(sealer: &SecretSealer, page: &Statuspage, line: &str, now: Timestamp) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_str(line).unwrap());
        PagePass::of(sealer, page).is_some_and(|pass| pass.is_in(&headers, now))
    }

    /// The name and value of the cookie of a page.
    fn issued(sealer: &SecretSealer, page: &Statuspage, is_secure: bool) -> String {
        let line = PagePass::of(sealer, page).unwrap().cookie(NOW, is_secure);
        line.split(';').next().unwrap().to_owned()
    }

    #[rstest]
    #[case(false, "watchkeeper-page=", "; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax")]
    #[case(true, "__Host-watchkeeper-page=", "; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure")]
    fn a_cookie_is_kept_from_scripts_and_other_hosts(
        #[case] is_secure: bool,
        #[case] start: &str,
        #[case] end: &str,
    ) {
        let (sealer, page) = (SecretSealer::new(&[7; 32]), page(Some("hash")));
        let line = PagePass::of(&sealer, &page).unwrap().cookie(NOW, is_secure);
        assert!(line.starts_with(start) && line.ends_with(end), "{line}");
        assert!(!line.contains("hash"));
    }

    #[test]
    fn a_cookie_counts_for_its_page_and_password_until_it_expires() {
        let (sealer, shop) = (SecretSealer::new(&[7; 32]), page(Some("hash")));
        for is_secure in [false, true] {
            let cookie = issued(&sealer, &shop, is_secure);
            assert!(admits(&sealer, &shop, &cookie, NOW));
            assert!(admits(&sealer, &shop, &format!("a=b; {cookie}; c"), NOW));
            let end = NOW.plus_ms(LIFETIME_SECONDS * 1_000);
            assert!(admits(&sealer, &shop, &cookie, end.plus_ms(-1)));
            assert!(!admits(&sealer, &shop, &cookie, end), "it has expired");
            assert!(!admits(&sealer, &page(Some("other hash")), &cookie, NOW), "the password has changed");
            assert!(!admits(&sealer, &page(None), &cookie, NOW), "there is no password");
            let other = Statuspage { id: crate::id::Id::random(), ..shop.clone() };
            assert!(!admits(&sealer, &other, &cookie, NOW), "it is of another page");
            assert!(!admits(&SecretSealer::new(&[8; 32]), &shop, &cookie, NOW), "of another installation");
        }
    }

    #[test]
    fn an_altered_cookie_does_not_count() {
        let (sealer, page) = (SecretSealer::new(&[7; 32]), page(Some("hash")));
        let cookie = issued(&sealer, &page, false);
        let (name, value) = cookie.split_once('=').unwrap();
        let (until, signature) = value.split_once('.').unwrap();
        let later: i64 = until.parse::<i64>().unwrap() + 1;
        for altered in [
            format!("{name}={later}.{signature}"),
            format!("{name}={until}.{}", &signature[..signature.len() - 2]),
            format!("{name}={until}."),
            format!("{name}={until}"),
            format!("{name}=.{signature}"),
            format!("other={value}"),
            name.to_owned(),
        ] {
            assert!(!admits(&sealer, &page, &altered, NOW), "{altered}");
        }
    }
}
