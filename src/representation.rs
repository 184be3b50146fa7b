//! Representations (RFC 9110, section 3.2) that are sent to many clients. Each is created once, with a strong entity tag,
//! and compressed once for each content coding that a client requests.

mod coding;

use std::sync::OnceLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, VARY};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::representation::coding::{CODINGS, ResponseCoding, preferred};

/// Bytes of the hash in an entity tag, which has 16 hexadecimal digits.
const TAG_BYTES: usize = 8;
/// Length in bytes below which compression saves nothing.
const SHORTEST: usize = 512;

/// Content with its entity tag and its compressed forms.
#[derive(Debug)]
pub struct Representation {
    plain: Bytes,
    /// Hash of the content, in hexadecimal digits.
    revision: String,
    /// The content in each of [`CODINGS`], compressed on first use; `None` if compression failed.
    coded: [OnceLock<Option<Bytes>>; CODINGS.len()],
    /// False for content that is compressed already, such as an image.
    is_compressible: bool,
}

impl Representation {
    /// Creates a representation of this content, which is not compressed yet.
    #[must_use]
    pub fn new(plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        let revision = hash(&plain);
        Self { plain, revision, coded: Default::default(), is_compressible: true }
    }

    /// Creates a representation of content that is compressed already and is sent as it is, such as an image.
    #[must_use]
    pub fn of_image(plain: impl Into<Bytes>) -> Self {
        Self { is_compressible: false, ..Self::new(plain) }
    }

    /// Returns the content without compression.
    #[must_use]
    pub const fn plain(&self) -> &Bytes {
        &self.plain
    }

    /// Returns the 16 hexadecimal digits that change with the content.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Returns the response to a request with these headers: 304 without a body if the client has the content already.
    /// `response` must have the status, and the headers that 200 and 304 share.
    pub fn answer(&self, mut response: HttpResponseBuilder, request: &HeaderMap) -> HttpResponse {
        let selected = preferred(request).and_then(|coding| Some((coding, self.coded(coding)?)));
        response.insert_header((ETAG, self.tag(selected.as_ref().map(|(coding, _)| *coding))));
        let mut response = match selected {
            _ if self.is_known_to(request) => response.status(StatusCode::NOT_MODIFIED).finish(),
            Some((coding, body)) => response.insert_header((CONTENT_ENCODING, coding.name())).body(body),
            None => response.body(self.plain.clone()),
        };
        vary_by_coding(response.headers_mut());
        response
    }

    fn coded(&self, coding: ResponseCoding) -> Option<Bytes> {
        if self.plain.len() < SHORTEST || !self.is_compressible {
            return None;
        }
        self.coded[coding as usize].get_or_init(|| coding.compress(&self.plain)).clone()
    }

    /// Returns a strong entity tag. It depends on the coding: each coding is a separate representation (RFC 9110, section
    /// 8.8.3.3).
    fn tag(&self, coding: Option<ResponseCoding>) -> String {
        coding.map_or_else(
            || format!("\"{}\"", self.revision),
            |coding| format!("\"{}-{}\"", self.revision, coding.name()),
        )
    }

    /// Returns true if `If-None-Match` contains the tag of this content in any coding (RFC 9110, section 13.1.2).
    fn is_known_to(&self, request: &HeaderMap) -> bool {
        let lines = request.get_all(IF_NONE_MATCH).filter_map(|line| line.to_str().ok());
        let mut tags = lines.flat_map(|line| line.split(',')).map(str::trim);
        tags.any(|tag| {
            let opaque = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
            let revision = opaque.split_once('-').map_or(opaque, |(revision, _)| revision);
            tag == "*" || revision == self.revision
        })
    }
}

/// Adds `Accept-Encoding` to the `Vary` header.
fn vary_by_coding(headers: &mut HeaderMap) {
    let earlier = headers.get(VARY).and_then(|earlier| earlier.to_str().ok());
    let varies = earlier.map(|earlier| format!("{earlier}, Accept-Encoding"));
    let varies = varies.and_then(|varies| HeaderValue::from_str(&varies).ok());
    headers.insert(VARY, varies.unwrap_or_else(|| HeaderValue::from_static("Accept-Encoding")));
}

/// Returns 16 hexadecimal digits of the SHA-256 hash, which identify this content.
#[must_use]
pub fn hash(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().take(TAG_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if a text may be such a hash: 1 to 64 hexadecimal digits.
#[must_use]
pub fn is_hash(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use actix_web::http::header::{ACCEPT_ENCODING, HeaderName};
    use rstest::rstest;

    use super::*;

    fn headers(lines: &[(HeaderName, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[tokio::test]
    async fn short_content_is_sent_as_it_is() {
        let response =
            Representation::new("short").answer(HttpResponse::Ok(), &headers(&[(ACCEPT_ENCODING, "gzip")]));
        assert!(!response.headers().contains_key(CONTENT_ENCODING));
        assert_eq!(to_bytes(response.into_body()).await.unwrap(), "short");
    }

    #[test]
    fn an_image_is_sent_as_it_is() {
        let image = Representation::of_image("the same again and again; ".repeat(500));
        let response = image.answer(HttpResponse::Ok(), &headers(&[(ACCEPT_ENCODING, "gzip")]));
        assert!(!response.headers().contains_key(CONTENT_ENCODING));
    }

    #[rstest]
    #[case("gzip", Some("gzip"))]
    #[case("gzip, deflate, br, zstd", Some("br"))]
    #[case("gzip, zstd", Some("zstd"))]
    #[case("br;q=0, identity", None)]
    #[tokio::test]
    async fn each_coding_has_a_tag_of_its_own(#[case] accepted: &'static str, #[case] coding: Option<&str>) {
        let content = Representation::new("the same again and again; ".repeat(500));
        let response = content.answer(HttpResponse::Ok(), &headers(&[(ACCEPT_ENCODING, accepted)]));
        let header = |name: HeaderName| response.headers().get(name).map(|value| value.to_str().unwrap());
        assert_eq!(header(CONTENT_ENCODING), coding);
        let ending = coding.map(|coding| format!("-{coding}")).unwrap_or_default();
        assert_eq!(header(ETAG), Some(&*format!("\"{}{ending}\"", content.revision())));
        assert_eq!(header(VARY), Some("Accept-Encoding"));
    }

    #[rstest]
    #[case("\"REVISION\"", 304)]
    #[case("W/\"REVISION-gzip\"", 304)]
    #[case("\"other\", \"REVISION-br\"", 304)]
    #[case("*", 304)]
    #[case("\"other\"", 200)]
    #[case("", 200)]
    fn known_content_is_not_sent_again(#[case] tags: &str, #[case] status: u16) {
        let content = Representation::new("content");
        let mut request = HeaderMap::new();
        let tags = tags.replace("REVISION", content.revision());
        request.insert(IF_NONE_MATCH, HeaderValue::from_str(&tags).unwrap());
        let response = content.answer(HttpResponse::Ok(), &request);
        assert_eq!(response.status().as_u16(), status);
        assert!(response.headers().contains_key(ETAG));
    }
}
