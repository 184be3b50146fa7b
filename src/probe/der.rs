//! DER values without their headers: the form in which trust anchors store names and keys.

use x509_parser::asn1_rs::Any;
use x509_parser::prelude::FromDer;

/// Returns the contents of the first value, and the bytes after this value.
pub(super) fn split(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, value) = Any::from_der(der).ok()?;
    Some((value.data, rest))
}

/// Returns the contents of the first value.
pub(super) fn contents(der: &[u8]) -> Option<&[u8]> {
    Some(split(der)?.0)
}
