//! Files of a status page (contract 4.16): logos and icons are uploaded and deleted.
//!
//! A file is stored in its sanitised form (`picture`, `svg`), and its URL contains the hash of its content. Responses
//! contain the page without its components.

mod decoder;
mod icon;
pub mod picture;
pub mod svg;
mod upload;

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::assets::picture::size_limit;
use crate::http::v1::assets::upload::{FormUpload, read_file};
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::viewer::PageViewer;
use crate::model::asset::AssetKind;
use crate::store::assets::{self, NewAsset};
use crate::store::statuspages;

pub(super) use decoder::ImageDecoder;

pub(super) async fn upload_logo(
    decoder: Arc<ImageDecoder>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    upload(&decoder, call, AssetKind::Logo).await
}

pub(super) async fn upload_dark_logo(
    decoder: Arc<ImageDecoder>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    upload(&decoder, call, AssetKind::LogoDark).await
}

pub(super) async fn upload_favicon(
    decoder: Arc<ImageDecoder>,
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    upload(&decoder, call, AssetKind::Favicon).await
}

pub(super) async fn delete_logo(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    delete(call, AssetKind::Logo).await
}

pub(super) async fn delete_dark_logo(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    delete(call, AssetKind::LogoDark).await
}

pub(super) async fn delete_favicon(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    delete(call, AssetKind::Favicon).await
}

async fn upload(
    decoder: &ImageDecoder,
    call: ApiCall<AppState>,
    kind: AssetKind,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, statuspages::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let (most, mebibytes) = size_limit(kind);
    let refused = |rule| ApiError::Fields(FieldErrors::of("file", rule));
    let bytes = match read_file(&headers, body.into_payload(), most).await? {
        FormUpload::File(bytes) => bytes,
        FormUpload::TooLarge => return Err(refused(FieldRule::FileSize(mebibytes))),
        FormUpload::Missing => return Err(refused(FieldRule::Required)),
    };
    let picture = decoder.decode(kind, bytes).await?.map_err(refused)?;
    let write = effect.begin(&state.databases.main).await?;
    let page = resource_lookup::lock_or_404(&write, &caller, id, statuspages::find_for_update).await?;
    let asset = NewAsset {
        statuspage: page.key,
        kind,
        content_type: picture.content_type.into(),
        hash: hash_of(&picture.bytes),
        bytes: picture.bytes,
        created_at: state.now(),
    };
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    write.replaces(viewer.bare(&*write, &page).await?);
    assets::replace(&*write, asset).await?;
    let reply = ApiReply::data(viewer.bare(&*write, &page).await?);
    write.commit(reply.in_language(&languages)).await
}

async fn delete(call: ApiCall<AppState>, kind: AssetKind) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, statuspages::find).await?.id;
    let ApiCall { state, caller, headers, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let page = resource_lookup::lock_or_404(&write, &caller, id, statuspages::find_for_update).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    write.replaces(viewer.bare(&*write, &page).await?);
    assets::delete(&*write, page.key, kind).await?;
    let reply = ApiReply::data(viewer.bare(&*write, &page).await?);
    write.commit(reply.in_language(&languages)).await
}

/// Returns the part of a file's URL that changes with its content: the SHA-256 hash in hexadecimal digits.
fn hash_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
