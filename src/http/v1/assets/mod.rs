//! Files of a status page (contract 4.16): upload and delete.
//!
//! A file is stored in its sanitised form (`picture`, `svg`); its URL is the hash of its content. Responses contain the
//! page, without its components.

mod decoder;
mod icon;
pub mod picture;
pub mod svg;
mod upload;

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::http::gate::call::Call;
use crate::http::gate::write::Committed;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::languages::Languages;
use crate::http::kit::reply::Reply;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::assets::picture::size_limit;
use crate::http::v1::assets::upload::{Upload, read_file};
use crate::http::v1::in_path;
use crate::http::v1::state::AppState;
use crate::http::v1::statuspages::viewer::PageViewer;
use crate::model::asset::AssetKind;
use crate::store::assets::{self, NewAsset};
use crate::store::statuspages;

pub(super) use decoder::ImageDecoder;

pub(super) async fn upload_logo(
    decoder: Arc<ImageDecoder>,
    call: Call<AppState>,
) -> Result<Committed, ApiError> {
    upload(&decoder, call, AssetKind::Logo).await
}

pub(super) async fn upload_dark_logo(
    decoder: Arc<ImageDecoder>,
    call: Call<AppState>,
) -> Result<Committed, ApiError> {
    upload(&decoder, call, AssetKind::LogoDark).await
}

pub(super) async fn upload_favicon(
    decoder: Arc<ImageDecoder>,
    call: Call<AppState>,
) -> Result<Committed, ApiError> {
    upload(&decoder, call, AssetKind::Favicon).await
}

pub(super) async fn delete_logo(call: Call<AppState>) -> Result<Committed, ApiError> {
    delete(call, AssetKind::Logo).await
}

pub(super) async fn delete_dark_logo(call: Call<AppState>) -> Result<Committed, ApiError> {
    delete(call, AssetKind::LogoDark).await
}

pub(super) async fn delete_favicon(call: Call<AppState>) -> Result<Committed, ApiError> {
    delete(call, AssetKind::Favicon).await
}

async fn upload(
    decoder: &ImageDecoder,
    call: Call<AppState>,
    kind: AssetKind,
) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, statuspages::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let (most, mebibytes) = size_limit(kind);
    let refused = |rule| ApiError::Fields(FieldErrors::of("file", rule));
    let bytes = match read_file(&headers, body.into_payload(), most).await? {
        Upload::File(bytes) => bytes,
        Upload::TooLarge => return Err(refused(FieldRule::FileSize(mebibytes))),
        Upload::Missing => return Err(refused(FieldRule::Required)),
    };
    let picture = decoder.decode(kind, bytes).await?.map_err(refused)?;
    let write = effect.begin(&state.databases.main).await?;
    let page = in_path::find_for_update(&write, &caller, id, statuspages::find_for_update).await?;
    let asset = NewAsset {
        statuspage: page.key,
        kind,
        content_type: picture.content_type.into(),
        hash: hash_of(&picture.bytes),
        bytes: picture.bytes,
        created_at: state.now(),
    };
    assets::replace(&*write, asset).await?;
    let languages = Languages::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    let reply = Reply::data(viewer.bare(&*write, &page).await?);
    write.commit(reply.in_language(&languages)).await
}

async fn delete(call: Call<AppState>, kind: AssetKind) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, statuspages::find).await?.id;
    let Call { state, caller, headers, effect, .. } = call;
    let write = effect.begin(&state.databases.main).await?;
    let page = in_path::find_for_update(&write, &caller, id, statuspages::find_for_update).await?;
    assets::delete(&*write, page.key, kind).await?;
    let languages = Languages::negotiate(&headers, &caller.organisation);
    let viewer = PageViewer { state: &state, caller: &caller, languages: &languages };
    let reply = Reply::data(viewer.bare(&*write, &page).await?);
    write.commit(reply.in_language(&languages)).await
}

/// The part of a file's URL that changes with its content.
fn hash_of(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
