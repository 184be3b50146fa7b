//! The reasons why an exchange ended without a response, with texts for operators.
//!
//! The texts contain no sent data: no header, no body, no address.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use crate::egress::{BlockedAddress, is_head_too_large, local_fault};
use crate::model::check::LocalFault;

/// The reason why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeFailure {
    /// The egress policy forbids all addresses of the host.
    #[error("{0}")]
    Blocked(BlockedAddress),
    /// The host has no address.
    #[error("{0}")]
    Name(NameFault),
    /// No connection could be opened.
    #[error("{0}")]
    Connect(ConnectFault),
    /// The server is not trusted, or the handshake failed.
    #[error("{0}")]
    Tls(TlsFault),
    /// The deadline passed in this stage.
    #[error("{0}")]
    Timeout(TimeoutStage),
    /// The connection ended too early.
    #[error("The connection was closed before the answer was complete")]
    Closed,
    /// The head of the response is too large.
    #[error("The head of the answer is larger than 256 KiB or 4,096 lines")]
    Head,
    /// The body of a response that is needed as a whole is too large.
    #[error("The answer is larger than 256 KiB")]
    Body,
    /// The response is not HTTP.
    #[error("The answer is not a proper HTTP response")]
    Protocol,
    /// The client cannot send the request; trying again is useless.
    #[error("The request cannot be sent: {0}")]
    Unsendable(&'static str),
    /// This process or machine lacks a resource; says nothing about the server.
    #[error("This machine cannot send now: {0:?}")]
    Ours(LocalFault),
}

/// The reasons why a host has no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum NameFault {
    /// The name has no A and no AAAA record.
    #[error("The name has no address")]
    NoAddress,
    /// The name servers reported a failure, or refused the question.
    #[error("The name server failed or refused")]
    ServerFailed,
    /// No name server answered.
    #[error("The name servers did not answer in time")]
    Silence,
    /// The name does not exist (NXDOMAIN).
    #[error("The name does not exist")]
    NoSuchName,
}

/// The reasons why no address of a host could be connected to, the most informative ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ConnectFault {
    /// There is no route to the host.
    #[error("No route to the host")]
    Unreachable,
    /// The host did not answer in time.
    #[error("Connecting timed out")]
    Silence,
    /// The connection was closed at once.
    #[error("Connection reset by the peer")]
    Reset,
    /// The host refused the connection.
    #[error("Connection refused")]
    Refused,
}

/// The reasons why TLS failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// The certificate is expired, or not valid yet.
    #[error("The certificate has expired or is not valid yet")]
    Expired,
    /// The certificate is for another name.
    #[error("The certificate is for another name")]
    Hostname,
    /// The certificate was not issued by a trusted authority.
    #[error("The certificate was not issued by a trusted authority")]
    Untrusted,
    /// Anything else: no common version or suite, a refusal, no TLS at all.
    #[error("The TLS handshake failed")]
    Handshake,
}

/// The stage of an exchange at which the deadline passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeoutStage {
    /// Before the connection was open.
    #[error("No connection within the deadline")]
    Connecting,
    /// Before the head of the response was received.
    #[error("No answer within the deadline")]
    Answering,
    /// Before the body of the response was received.
    #[error("The answer was not complete within the deadline")]
    Reading,
}

impl ExchangeFailure {
    /// Interprets an error of the HTTP library, or one of the connector inside of it.
    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        for cause in std::iter::successors(Some(error), |error| (*error).source()) {
            if let Some(own) = cause.downcast_ref::<Self>() {
                return *own;
            }
            if let Some(error) = cause.downcast_ref::<io::Error>() {
                return Self::of_io(error);
            }
            if let Some(error) = cause.downcast_ref::<hyper::Error>()
                && error.is_parse()
            {
                return if is_head_too_large(error) { Self::Head } else { Self::Protocol };
            }
        }
        Self::Closed
    }

    /// Interprets an error of a connection, which TLS may have caused.
    #[must_use]
    pub fn of_io(error: &io::Error) -> Self {
        if let Some(trouble) = local_fault(error) {
            return Self::Ours(trouble);
        }
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(error) => Self::Tls(TlsFault::of(error)),
            None => Self::Closed,
        }
    }
}

impl TlsFault {
    pub(super) const fn of(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
            ) => Self::Expired,
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => Self::Hostname,
            rustls::Error::InvalidCertificate(_) => Self::Untrusted,
            _ => Self::Handshake,
        }
    }
}

impl ConnectFault {
    pub(super) fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => Self::Reset,
            io::ErrorKind::TimedOut => Self::Silence,
            _ => Self::Unreachable,
        }
    }
}
