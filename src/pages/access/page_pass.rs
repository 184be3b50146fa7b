//! The cookie of a visitor who has given the password of a page, or has used a link that was sent to an address on its list.
//! It is signed with the key of the installation, and bound to the page, to the present password or the address, and to a
//! time.

use actix_web::http::header::{self, HeaderMap};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::clock::Timestamp;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::AccessType;

/// Name of the cookie over plain HTTP. Over HTTPS it has a prefix that browsers accept only with `Secure` and `Path=/`.
const NAME: &str = "watchkeeper-page";
const SECURE_NAME: &str = "__Host-watchkeeper-page";
/// Time for which a cookie is valid.
const LIFETIME_SECONDS: i64 = 30 * 24 * 60 * 60;

/// Issues and verifies the cookies of one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PagePass<'a> {
    pub(super) sealer: &'a SecretSealer,
    pub(super) page: &'a Statuspage,
}

/// What a visitor has proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AccessProof {
    /// The password with this hash. The hash changes with every password, because each has a salt of its own.
    Password(String),
    /// The control of this e-mail address.
    Address(String),
}

impl AccessProof {
    /// The purpose of the signature.
    const fn purpose(&self) -> &'static str {
        match self {
            Self::Password(_) => "status page password",
            Self::Address(_) => "status page address",
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Password(text) | Self::Address(text) => text,
        }
    }
}

impl PagePass<'_> {
    /// Returns the value of `Set-Cookie` for a visitor with this proof.
    pub(super) fn cookie(&self, proof: &AccessProof, now: Timestamp, is_secure: bool) -> String {
        let until = now.plus_ms(LIFETIME_SECONDS * 1_000).ms();
        let signature = BASE64.encode(self.sealer.sign(proof.purpose(), &self.message(proof, until)));
        // The server knows the password, but not which address the visitor has.
        let address = match proof {
            AccessProof::Password(_) => String::new(),
            AccessProof::Address(address) => format!(".{}", BASE64.encode(address)),
        };
        let (name, ending) = if is_secure { (SECURE_NAME, "; Secure") } else { (NAME, "") };
        format!(
            "{name}={until}.{signature}{address}; Path=/; Max-Age={LIFETIME_SECONDS}; HttpOnly; SameSite=Lax{ending}"
        )
    }

    /// Returns true if the request has a valid cookie of this page.
    pub(super) fn is_in(&self, headers: &HeaderMap, now: Timestamp) -> bool {
        let lines = headers.get_all(header::COOKIE).filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| matches!(name, NAME | SECURE_NAME) && self.is_valid(value, now).is_some())
    }

    /// Returns the time until which a cookie is valid; `None` if it is not.
    fn is_valid(&self, value: &str, now: Timestamp) -> Option<i64> {
        let mut parts = value.split('.');
        let until: i64 = parts.next()?.parse().ok()?;
        let signature = BASE64.decode(parts.next()?).ok()?;
        let proof = self.wanted_proof(parts.next())?;
        let message = self.message(&proof, until);
        (now.ms() < until && self.sealer.is_signed(proof.purpose(), &message, &signature)).then_some(until)
    }

    /// Returns the proof that opens the page at present, for a cookie that names this address in base64.
    fn wanted_proof(&self, address: Option<&str>) -> Option<AccessProof> {
        match self.page.access_type {
            AccessType::Public => None,
            AccessType::Password => self.page.password_hash.clone().map(AccessProof::Password),
            AccessType::EmailWhitelist => {
                let address = String::from_utf8(BASE64.decode(address?).ok()?).ok()?;
                self.page.lists_address(&address).then_some(AccessProof::Address(address))
            }
        }
    }

    /// Returns what is signed.
    fn message(&self, proof: &AccessProof, until: i64) -> Vec<u8> {
        [self.page.id.as_str(), proof.text(), &until.to_string()].join("\0").into_bytes()
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
        page.access_type = AccessType::Password;
        page.password_hash = version.map(str::to_owned);
        page
    }

    /// A page that these addresses may read.
    fn listing(addresses: &[&str]) -> Statuspage {
        let email_whitelist = addresses.iter().map(|address| (*address).to_owned()).collect();
        Statuspage { access_type: AccessType::EmailWhitelist, email_whitelist, ..page(None) }
    }

    /// Returns whether this page admits a visitor with this `Cookie` line.
    fn admits(sealer: &SecretSealer, page: &Statuspage, line: &str, now: Timestamp) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_str(line).unwrap());
        PagePass { sealer, page }.is_in(&headers, now)
    }

    /// The proof of a visitor: the password of the page, or else Anna's address.
    fn proof_of(page: &Statuspage) -> AccessProof {
        let password = page.password_hash.clone().map(AccessProof::Password);
        password.unwrap_or_else(|| AccessProof::Address("anna@example.com".into()))
    }

    /// The name and value of the cookie of a page.
    fn issued(sealer: &SecretSealer, page: &Statuspage, is_secure: bool) -> String {
        let line = PagePass { sealer, page }.cookie(&proof_of(page), NOW, is_secure);
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
        let line = PagePass { sealer: &sealer, page: &page }.cookie(&proof_of(&page), NOW, is_secure);
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
    fn a_cookie_counts_while_its_address_is_on_the_list() {
        let (sealer, shop) =
            (SecretSealer::new(&[7; 32]), listing(&["bert@example.com", "Anna@Example.com"]));
        let cookie = issued(&sealer, &shop, false);
        assert!(admits(&sealer, &shop, &cookie, NOW));
        assert!(!admits(&sealer, &listing(&["bert@example.com"]), &cookie, NOW), "it was removed");
        let (name, value) = cookie.split_once('=').unwrap();
        let signed = value.rsplit_once('.').unwrap().0;
        let bert = BASE64.encode("bert@example.com");
        for altered in
            [format!("{name}={signed}.{bert}"), format!("{name}={signed}"), format!("{name}={signed}.%")]
        {
            assert!(!admits(&sealer, &shop, &altered, NOW), "{altered}");
        }
        let protected = page(Some("anna@example.com"));
        assert!(!admits(&sealer, &protected, &cookie, NOW), "a cookie for an address opens no password");
        let public = Statuspage { access_type: AccessType::Public, ..shop };
        assert!(!admits(&sealer, &public, &cookie, NOW), "a public page has no cookies");
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
