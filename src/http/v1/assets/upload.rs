//! Reads the file of a form (contract 4.16) from the field `file`; all other fields are ignored.
//!
//! A file that is too long is refused as soon as its length exceeds the limit. A limited part of the rest is still read, so
//! that clients that send everything before they read get the response.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::Bytes;
use futures_util::{StreamExt as _, stream};
use multer::{Constraints, Multipart, SizeLimit};
use tokio::sync::mpsc;

use crate::http::kit::bad_request::BadRequest;
use crate::http::kit::error::ApiError;

const FIELD: &str = "file";
/// Time limit for the whole form.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum bytes of a form in addition to its file, and maximum bytes that are read and discarded after the result is known.
const AROUND_BYTES: usize = 4 * 1024 * 1024;

/// The contents of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormUpload {
    File(Vec<u8>),
    /// The file has more bytes than allowed.
    TooLarge,
    /// The form has no file.
    Missing,
}

/// Reads the file, which may have at most `most` bytes.
///
/// # Errors
///
/// 400 if the body is not a form; 408 on timeout.
pub(super) async fn read_file(
    headers: &HeaderMap,
    payload: Payload,
    most: usize,
) -> Result<FormUpload, ApiError> {
    let boundary = boundary(headers).ok_or(BadRequest::FileContentType)?;
    let (sender, receiver) = mpsc::channel(1);
    let chunks = stream::unfold(receiver, |mut receiver: mpsc::Receiver<io::Result<Bytes>>| async move {
        receiver.recv().await.map(|chunk| (chunk, receiver))
    });
    let result = RefCell::new(None);
    let read = async {
        let read = read_form(Box::pin(chunks), boundary, most).await;
        result.replace(Some(read));
    };
    let work = async { tokio::join!(read, forward(payload, sender)) };
    // On timeout, a result that is already known counts.
    let _ = tokio::time::timeout(TIMEOUT, work).await;
    match result.into_inner() {
        Some(Ok(upload)) => Ok(upload),
        Some(Err(_)) => Err(BadRequest::FileContentType.into()),
        None => Err(ApiError::BodyTimeout),
    }
}

/// Returns the boundary from the content type; `None` when the body is not a form, or is encoded.
fn boundary(headers: &HeaderMap) -> Option<String> {
    let mut types = headers.get_all(header::CONTENT_TYPE);
    let (only, none) = (types.next()?, types.next());
    if none.is_some() || headers.contains_key(header::CONTENT_ENCODING) {
        return None;
    }
    multer::parse_boundary(only.to_str().ok()?).ok()
}

/// Forwards the payload while it is read, and a limited part of the rest. (A payload stays on its thread, but the reader of
/// the form may move, so a channel connects them.)
async fn forward(mut payload: Payload, sender: mpsc::Sender<io::Result<Bytes>>) {
    let mut thrown_away = 0;
    while thrown_away < AROUND_BYTES {
        let Some(chunk) = payload.next().await else { return };
        let length = chunk.as_ref().map_or(AROUND_BYTES, Bytes::len);
        if sender.send(chunk.map_err(io::Error::other)).await.is_err() {
            thrown_away += length;
        }
    }
}

async fn read_form(
    chunks: impl stream::Stream<Item = io::Result<Bytes>> + Send + Unpin,
    boundary: String,
    most: usize,
) -> multer::Result<FormUpload> {
    let mut chunks = chunks.peekable();
    if std::pin::Pin::new(&mut chunks).peek().await.is_none() {
        return Ok(FormUpload::Missing);
    }
    let whole = u64::try_from(most + AROUND_BYTES).unwrap_or(u64::MAX);
    let limits = Constraints::new().size_limit(SizeLimit::new().whole_stream(whole));
    let mut form = Multipart::with_constraints(chunks, boundary, limits);
    while let Some(mut field) = form.next_field().await? {
        if field.name() != Some(FIELD) {
            continue;
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = field.chunk().await? {
            if bytes.len() + chunk.len() > most {
                return Ok(FormUpload::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        return Ok(FormUpload::File(bytes));
    }
    Ok(FormUpload::Missing)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=X";

    fn part(head: &str, body: &str) -> String {
        format!("--X\r\nContent-Disposition: form-data; {head}\r\n\r\n{body}\r\n")
    }

    type Chunk = Result<Bytes, actix_web::error::PayloadError>;

    fn payload_of(chunks: Vec<Chunk>) -> Payload {
        let stream: std::pin::Pin<Box<dyn stream::Stream<Item = Chunk>>> = Box::pin(stream::iter(chunks));
        stream.into()
    }

    async fn read(content_type: &[&'static str], body: &str) -> Result<FormUpload, String> {
        let mut headers = HeaderMap::new();
        for value in content_type {
            headers.append(header::CONTENT_TYPE, HeaderValue::from_static(value));
        }
        let chunks: Vec<_> =
            body.as_bytes().chunks(5).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let payload = payload_of(chunks);
        read_file(&headers, payload, 8).await.map_err(|error| format!("{} {error}", error.status().as_u16()))
    }

    const END: &str = "--X--\r\n";

    fn file(text: &str) -> FormUpload {
        FormUpload::File(text.into())
    }

    /// Contract 4.16: one file in field `file`; other fields are ignored.
    #[rstest]
    #[case(part("name=\"file\"; filename=\"a.png\"", "12345678"), file("12345678"))]
    #[case(part("name=\"file\"", "1"), file("1"))]
    #[case(part("name=\"file\"; filename=\"\"", ""), file(""))]
    #[case(part("name=\"other\"", "123456789012345") + &part("name=\"file\"", "1"), file("1"))]
    #[case(part("name=\"file\"", "1") + &part("name=\"file\"", "2"), file("1"))]
    #[case(part("name=\"file\"", "123456789"), FormUpload::TooLarge)]
    #[case(part("name=\"File\"", "1"), FormUpload::Missing)]
    #[case(String::new(), FormUpload::Missing)]
    #[tokio::test]
    async fn the_file_is_found(#[case] parts: String, #[case] expected: FormUpload) {
        assert_eq!(read(&[TYPE], &(parts + END)).await, Ok(expected));
    }

    #[tokio::test]
    async fn an_empty_body_has_no_file() {
        assert_eq!(read(&[TYPE], "").await, Ok(FormUpload::Missing));
    }

    /// A form that does not end is aborted after 30 seconds; a file that is complete by then counts.
    #[rstest]
    #[case::nothing_came(String::new(), Err("408 The request body did not arrive in time.".to_owned()))]
    #[case::half_a_file("--X\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n123".to_owned(), Err("408 The request body did not arrive in time.".to_owned()))]
    #[case::the_file_is_whole(part("name=\"file\"", "1") + "--X\r\n", Ok(file("1")))]
    #[tokio::test(start_paused = true)]
    async fn a_form_has_thirty_seconds(#[case] sent: String, #[case] expected: Result<FormUpload, String>) {
        let started = tokio::time::Instant::now();
        let first: Chunk = Ok(Bytes::from(sent));
        let chunks = stream::iter([first]).chain(stream::pending());
        let payload: std::pin::Pin<Box<dyn stream::Stream<Item = Chunk>>> = Box::pin(chunks);
        let mut headers = HeaderMap::new();
        headers.append(header::CONTENT_TYPE, HeaderValue::from_static(TYPE));
        let read = read_file(&headers, payload.into(), 8).await;
        let read = read.map_err(|error| format!("{} {error}", error.status().as_u16()));
        assert_eq!(read, expected);
        assert_eq!(started.elapsed().as_secs(), 30);
    }

    const REFUSED: &str = "400 Send the file as multipart/form-data.";

    /// Contract 4.16: other content types.
    #[rstest]
    #[case(&[])]
    #[case(&["application/json"])]
    #[case(&["multipart/form-data"])]
    #[case(&["multipart/mixed; boundary=X"])]
    #[case(&["image/png"])]
    #[case(&[TYPE, TYPE])]
    #[tokio::test]
    async fn only_a_form_is_read(#[case] content_type: &[&'static str]) {
        let body = part("name=\"file\"", "1") + END;
        assert_eq!(read(content_type, &body).await, Err(REFUSED.to_owned()));
    }

    #[rstest]
    #[case("no form")]
    #[case("--X\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n123")]
    #[tokio::test]
    async fn a_broken_form_is_refused(#[case] body: &str) {
        assert_eq!(read(&[TYPE], body).await, Err(REFUSED.to_owned()));
    }
}
