//! A response body that is sent to many clients, compressed once for all that accept gzip.

use std::io::Write as _;
use std::sync::OnceLock;

use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, VARY};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A body with its compressed form.
#[derive(Debug)]
pub struct CompressibleBody {
    plain: Bytes,
    /// Created on first use; `None` if compression failed.
    gzip: OnceLock<Option<Bytes>>,
}

impl CompressibleBody {
    /// A body that is not compressed yet.
    #[must_use]
    pub fn new(plain: impl Into<Bytes>) -> Self {
        Self { plain: plain.into(), gzip: OnceLock::new() }
    }

    /// Returns the body without compression.
    #[must_use]
    pub const fn plain(&self) -> &Bytes {
        &self.plain
    }

    /// The response to a request with these headers.
    pub fn answer(&self, mut response: HttpResponseBuilder, request: &HeaderMap) -> HttpResponse {
        response.insert_header((VARY, "Accept-Encoding"));
        let compressed =
            if reads_gzip(request) { self.gzip.get_or_init(|| compress(&self.plain)).as_ref() } else { None };
        match compressed {
            Some(compressed) => response.insert_header((CONTENT_ENCODING, "gzip")).body(compressed.clone()),
            None => response.body(self.plain.clone()),
        }
    }
}

fn compress(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Returns true if the client accepts gzip (RFC 9110, section 12.5.3). A client without the header gets the
/// uncompressed body.
fn reads_gzip(request: &HeaderMap) -> bool {
    let lines = request.get_all(ACCEPT_ENCODING).filter_map(|line| line.to_str().ok());
    let mut codings = lines.flat_map(|line| line.split(',')).map(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let weight = weight.trim().trim_start_matches(['q', 'Q', '=', ' ']);
        (name.trim().to_ascii_lowercase(), weight.parse::<f32>().unwrap_or(1.0) > 0.0)
    });
    codings.any(|(name, is_wanted)| is_wanted && (name == "gzip" || name == "x-gzip"))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use actix_web::body::to_bytes;
    use actix_web::http::header::HeaderValue;
    use flate2::read::GzDecoder;
    use rstest::rstest;

    use super::*;

    fn headers(accepted: Option<&'static str>) -> HeaderMap {
        accepted.map(|accepted| (ACCEPT_ENCODING, HeaderValue::from_static(accepted))).into_iter().collect()
    }

    #[rstest]
    #[case(None, false)]
    #[case(Some(""), false)]
    #[case(Some("gzip"), true)]
    #[case(Some("gzip, deflate, br, zstd"), true)]
    #[case(Some("br;q=1.0, GZIP;q=0.5"), true)]
    #[case(Some("gzip;q=0"), false)]
    #[case(Some("gzip; q=0.000, br"), false)]
    #[case(Some("identity, br"), false)]
    #[case(Some("gzipped"), false)]
    fn gzip_is_sent_only_to_clients_that_accept_it(
        #[case] accepted: Option<&'static str>,
        #[case] expected: bool,
    ) {
        assert_eq!(reads_gzip(&headers(accepted)), expected);
    }

    #[tokio::test]
    async fn both_forms_are_the_same_body() {
        let text = "the same again and again; ".repeat(500);
        let body = CompressibleBody::new(text.clone());
        let plain = body.answer(HttpResponse::Ok(), &headers(None));
        assert!(!plain.headers().contains_key(CONTENT_ENCODING));
        assert_eq!(to_bytes(plain.into_body()).await.unwrap(), text.as_bytes());
        let compressed = body.answer(HttpResponse::Ok(), &headers(Some("gzip")));
        assert_eq!(compressed.headers().get(CONTENT_ENCODING).unwrap(), "gzip");
        assert_eq!(compressed.headers().get(VARY).unwrap(), "Accept-Encoding");
        let bytes = to_bytes(compressed.into_body()).await.unwrap();
        let mut read = String::new();
        GzDecoder::new(&*bytes).read_to_string(&mut read).unwrap();
        assert!(bytes.len() < text.len() / 10 && read == text);
    }
}
