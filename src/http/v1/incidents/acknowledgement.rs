//! `POST /v1/incidents/{id}/acknowledge`: records that somebody works on the incident. Members of the organisation see who
//! and since when; visitors of status pages do not.

use serde_json::{Map, Value};

use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::v1::incidents::sharing::HiddenIncidentPart;
use crate::http::v1::incidents::view::IncidentView;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::lifecycle;
use crate::model::incident::{Acknowledgement, NOTE_LENGTH};
use crate::store::incidents;
use crate::texts::GeneratedText;

pub(in crate::http) async fn acknowledge_incident(
    call: ApiCall<AppState>,
) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, incidents::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object_if_sent(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, incidents::find_for_update).await?;
    let hidden = HiddenIncidentPart::of(&*write, &caller, &stored).await?;
    let languages = AnswerLanguage::negotiate(&headers, &caller.organisation);
    write.replaces(to_json(&IncidentView::of(&hidden.clone().seen(stored.clone()), &languages)));
    hidden.refuse_shared()?;
    if stored.incident.is_resolved() {
        return Err(StateConflict::IncidentResolved.into());
    }
    let note = read_note(&body).map_err(ApiError::Fields)?;
    let by = caller.author();
    let message = GeneratedText::acknowledged(&by.name, note.as_deref()).translated(&caller.organisation);
    let mut changed = stored.clone();
    let now = state.now();
    changed.acknowledge(Acknowledgement { at: now, by }, message);
    lifecycle::incidents::save(&write, &stored, &changed, now).await?;
    let changed = hidden.seen(changed);
    write
        .commit(ApiReply::data(to_json(&IncidentView::of(&changed, &languages))).in_language(&languages))
        .await
}

/// Reads the optional `note`; a blank note counts as missing.
fn read_note(body: &Map<String, Value>) -> Result<Option<String>, FieldErrors> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let note = match fields.nullable("note") {
        FieldPatch::Value(field) if !field.is_blank() => field.text(NOTE_LENGTH),
        FieldPatch::Absent | FieldPatch::Null | FieldPatch::Value(_) => None,
    };
    errors.into_inner().into_result(note)
}
