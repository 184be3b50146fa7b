//! Exchanges without a response: interpretation of the HTTP library's errors as statements about the server.

use std::borrow::Cow;
use std::error::Error;
use std::io;

use h2::Reason;

use crate::egress::is_head_too_large;
use crate::model::check::ErrorCode;
use crate::probe::abort::ProbeAbort;
use crate::probe::tls::{self, HttpOffer};

/// The failure of an exchange without a response.
pub(super) enum NoAnswer {
    Stopped(ProbeAbort),
    /// The server has not processed the request (RFC 9113, section 8.7): it may be sent once more.
    Unprocessed {
        /// The HTTP versions to offer in the second request.
        offer: HttpOffer,
        /// The result of the check if the second request fails too.
        stop: ProbeAbort,
    },
}

impl NoAnswer {
    /// Interprets an error that came instead of a response.
    pub(super) fn of(error: &hyper::Error) -> Self {
        let stop = abort_from(error);
        let offer = match cause::<h2::Error>(error) {
            Some(error) if error.is_remote() => match error.reason() {
                Some(Reason::HTTP_1_1_REQUIRED) => Some(HttpOffer::OnlyHttp1),
                Some(Reason::REFUSED_STREAM) if error.is_reset() => Some(HttpOffer::Any),
                // A graceful GOAWAY: accepted requests are answered, the others fail with this error.
                Some(Reason::NO_ERROR) if error.is_go_away() => Some(HttpOffer::Any),
                _ => None,
            },
            _ => None,
        };
        match offer {
            Some(offer) => Self::Unprocessed { offer, stop },
            None => Self::Stopped(stop),
        }
    }

    pub(super) fn into_stop(self) -> ProbeAbort {
        match self {
            Self::Stopped(stop) | Self::Unprocessed { stop, .. } => stop,
        }
    }
}

impl From<ProbeAbort> for NoAnswer {
    fn from(stop: ProbeAbort) -> Self {
        Self::Stopped(stop)
    }
}

/// Interprets an error of the HTTP library as a statement about the server.
pub(super) fn abort_from(error: &hyper::Error) -> ProbeAbort {
    if let Some(error) = cause::<io::Error>(error) {
        return tls::failure(error, ErrorCode::HttpProtocol);
    }
    let message = match (error, cause::<h2::Error>(error)) {
        (_, Some(error)) => Cow::Owned(http2_message(error)),
        (error, _) if is_head_too_large(error) => {
            Cow::Borrowed("The head of the response is larger than 256 KiB or 4,096 lines")
        }
        (error, _) if error.is_parse() => Cow::Borrowed("The answer is not a proper HTTP response"),
        (error, _) if error.is_incomplete_message() => {
            Cow::Borrowed("The connection was closed before the response was complete")
        }
        _ => Cow::Borrowed("The HTTP exchange failed"),
    };
    ProbeAbort::failed(ErrorCode::HttpProtocol, message)
}

fn http2_message(error: &h2::Error) -> String {
    let Some(reason) = error.reason() else {
        return "The HTTP/2 exchange failed".to_owned();
    };
    let name = reason_name(reason);
    if error.is_remote() {
        format!("The server ended the HTTP/2 exchange: {name}")
    } else {
        format!("The answer is not proper HTTP/2: {name}")
    }
}

/// The name of an error code (RFC 9113, section 7).
fn reason_name(reason: Reason) -> Cow<'static, str> {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    let code = u32::from(reason);
    let name = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
    name.map_or_else(|| Cow::Owned(format!("code {code}")), |name| Cow::Borrowed(*name))
}

/// Returns the first cause of an error that is of this kind.
fn cause<E: Error + 'static>(error: &hyper::Error) -> Option<&E> {
    std::iter::successors(error.source(), |error| (*error).source()).find_map(|error| error.downcast_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_the_specification() {
        assert_eq!(reason_name(Reason::HTTP_1_1_REQUIRED), "HTTP_1_1_REQUIRED");
        assert_eq!(reason_name(Reason::from(99)), "code 99");
    }
}
