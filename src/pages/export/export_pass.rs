//! The header by which a command of this installation requests the parts of a page for an export. It is signed with the key
//! of the installation, so that nobody else sees a protected page by it.

use actix_web::http::header::HeaderValue;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::secret::SecretSealer;

/// Purpose of the signature.
const PURPOSE: &str = "status page export";
/// Time for which a header is valid, in milliseconds. Every request has a header of its own.
const LIFETIME_MS: i64 = 60_000;

/// Issues and verifies the headers for one page.
#[derive(Clone, Copy, Debug)]
pub struct ExportPass<'a> {
    /// Signs with the key of the installation.
    pub sealer: &'a SecretSealer,
    /// Id of the page.
    pub page: Id,
}

impl ExportPass<'_> {
    /// Returns the value of a header. `exported_at` is the time that the export shows.
    #[must_use]
    pub fn value(&self, exported_at: Timestamp, now: Timestamp) -> String {
        let until = now.plus_ms(LIFETIME_MS);
        let signature = BASE64.encode(self.sealer.sign(PURPOSE, &self.message(exported_at, until)));
        format!("{}.{}.{signature}", exported_at.ms(), until.ms())
    }

    /// Returns the time that the export shows; `None` if the value of the header is not valid.
    pub(in crate::pages) fn read(&self, value: &HeaderValue, now: Timestamp) -> Option<Timestamp> {
        let mut words = value.to_str().ok()?.split('.');
        let mut time = || words.next()?.parse().ok().map(Timestamp::from_ms);
        let (exported_at, until) = (time()?, time()?);
        let signature = BASE64.decode(words.next()?).ok()?;
        let is_signed = self.sealer.is_signed(PURPOSE, &self.message(exported_at, until), &signature);
        let is_in_time = now < until && until.ms_since(now) <= 2 * LIFETIME_MS;
        (is_signed && is_in_time && words.next().is_none()).then_some(exported_at)
    }

    /// Returns what is signed.
    fn message(&self, exported_at: Timestamp, until: Timestamp) -> Vec<u8> {
        [self.page.as_str(), &exported_at.ms().to_string(), &until.ms().to_string()].join("\0").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_795_193_460_250);
    const SHOWN: Timestamp = Timestamp::from_ms(1_795_193_000_000);

    fn read(pass: ExportPass<'_>, value: &str, now: Timestamp) -> Option<Timestamp> {
        pass.read(&HeaderValue::from_str(value).unwrap(), now)
    }

    #[test]
    fn a_header_counts_for_its_page_and_time_until_it_expires() {
        let (sealer, page) = (SecretSealer::new(&[7; 32]), Id::random());
        let pass = ExportPass { sealer: &sealer, page };
        let value = pass.value(SHOWN, NOW);
        assert_eq!(read(pass, &value, NOW), Some(SHOWN));
        assert_eq!(read(pass, &value, NOW.plus_ms(LIFETIME_MS)), None, "it has expired");
        assert_eq!(
            read(ExportPass { page: Id::random(), ..pass }, &value, NOW),
            None,
            "it is of another page"
        );
        let other = SecretSealer::new(&[8; 32]);
        assert_eq!(read(ExportPass { sealer: &other, page }, &value, NOW), None, "of another installation");
        let (shown, rest) = value.split_once('.').unwrap();
        let (_, signature) = rest.split_once('.').unwrap();
        for altered in [
            format!("{}.{rest}", SHOWN.ms() + 1),
            format!("{shown}.{}.{signature}", NOW.ms() + 120_000),
            format!("{value}.x"),
            shown.to_owned(),
            "..".to_owned(),
        ] {
            assert_eq!(read(pass, &altered, NOW), None, "{altered}");
        }
    }
}
