//! DER values without their headers, as trusted authorities keep them.

use x509_parser::asn1_rs::Any;
use x509_parser::prelude::FromDer;

/// The contents of the first value, and what follows it.
pub(super) fn split(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, value) = Any::from_der(der).ok()?;
    Some((value.data, rest))
}

/// The contents of the first value.
pub(super) fn contents(der: &[u8]) -> Option<&[u8]> {
    Some(split(der)?.0)
}
