//! Custom domains as clients see them (contract 4.15).

use std::ops::RangeInclusive;

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, string, string_or_null, text_in, timestamp_or_null,
};
use crate::id::Id;
use crate::model::certificate::{CertificateStatus, CertificateSummary};
use crate::model::domain::{CustomDomain, DomainProblem, DomainStatus};
use crate::model::domain_names::RequiredRecords;

/// Length of a host name in characters.
pub(super) const HOSTNAME_LENGTH: RangeInclusive<usize> = 1..=253;
const HOSTNAME: &str = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$";

/// A custom domain of a status page.
#[derive(Serialize, ToSchema)]
#[schema(as = CustomDomain)]
pub(super) struct DomainView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = hostname)]
    hostname: &'a str,
    #[schema(schema_with = status)]
    status: &'static str,
    /// Required value of the CNAME record for `hostname`.
    cname_target: &'a str,
    txt_record_name: &'a str,
    #[schema(schema_with = txt_record_value)]
    txt_record_value: &'a str,
    verified: bool,
    #[schema(schema_with = timestamp_or_null, required)]
    verified_at: Option<Timestamp>,
    #[schema(schema_with = last_error_code, required)]
    last_error_code: Option<&'static str>,
    #[schema(schema_with = id)]
    statuspage_id: Id,
    #[schema(inline)]
    certificate: CertificateView,
}

impl From<CertificateSummary> for CertificateView {
    fn from(certificate: CertificateSummary) -> Self {
        let CertificateSummary { status, not_after, last_error } = certificate;
        Self { status: status.as_str(), not_after, last_error }
    }
}

/// The certificate of a custom domain. `none` while the domain is not active, and always on a server that obtains no
/// certificates.
#[derive(Serialize, ToSchema)]
pub(super) struct CertificateView {
    #[schema(schema_with = certificate_status)]
    status: &'static str,
    #[schema(schema_with = timestamp_or_null, required)]
    not_after: Option<Timestamp>,
    #[schema(schema_with = string_or_null, required)]
    last_error: Option<String>,
}

impl<'a> DomainView<'a> {
    /// Creates the view of a domain of this page, with the required DNS records.
    pub(super) fn of(
        page: Id,
        domain: &'a CustomDomain,
        records: &'a RequiredRecords,
        certificate: CertificateSummary,
    ) -> Self {
        Self {
            id: domain.id,
            hostname: &domain.hostname,
            status: domain.status.as_str(),
            cname_target: &records.cname_target,
            txt_record_name: &records.txt_name,
            txt_record_value: &records.txt_value,
            verified: domain.status == DomainStatus::Active,
            verified_at: domain.verified_at,
            last_error_code: domain.problem.map(|problem| problem.as_str()),
            statuspage_id: page,
            certificate: certificate.into(),
        }
    }
}

pub(super) fn hostname() -> ApiSchema {
    text_in(&HOSTNAME_LENGTH).pattern(HOSTNAME).says("In lower case; international names as punycode.")
}

fn status() -> ApiSchema {
    enum_of(&["pending_verification", "active", "failed"])
}

fn txt_record_value() -> ApiSchema {
    string().pattern("^[A-Za-z0-9]{40}$")
}

fn last_error_code() -> ApiSchema {
    enum_of(DomainProblem::WORDS).nullable()
}

fn certificate_status() -> ApiSchema {
    enum_of(CertificateStatus::WORDS)
}
