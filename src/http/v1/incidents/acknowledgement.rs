//! `POST /v1/incidents/{id}/acknowledge`: somebody works on the incident. Members of the organisation see who and since
//! when, visitors of status pages do not.

use serde_json::{Map, Value};

use crate::http::gate::call::Call;
use crate::http::gate::write::Committed;
use crate::http::kit::error::{ApiError, Conflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{Errors, Fields, Given};
use crate::http::kit::languages::Languages;
use crate::http::kit::reply::Reply;
use crate::http::kit::view::to_json;
use crate::http::v1::in_path;
use crate::http::v1::incidents::sharing::Hidden;
use crate::http::v1::incidents::view::IncidentView;
use crate::http::v1::state::AppState;
use crate::lifecycle;
use crate::model::incident::{Acknowledgement, NOTE_LENGTH};
use crate::store::incidents;
use crate::texts::Text;

pub(in crate::http) async fn acknowledge_incident(call: Call<AppState>) -> Result<Committed, ApiError> {
    let id = in_path::find(&call, incidents::find).await?.id;
    let Call { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object_if_sent(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = in_path::find_for_update(&write, &caller, id, incidents::find_for_update).await?;
    let hidden = Hidden::of(&*write, &caller, &stored).await?;
    hidden.refuse_shared()?;
    if stored.incident.is_resolved() {
        return Err(Conflict::IncidentResolved.into());
    }
    let note = read_note(&body).map_err(ApiError::Fields)?;
    let by = caller.author();
    let message = Text::acknowledged(&by.name, note.as_deref()).translated(&caller.organisation);
    let mut changed = stored.clone();
    let now = state.now();
    changed.acknowledge(Acknowledgement { at: now, by }, message);
    lifecycle::incidents::save(&write, &stored, &changed, now).await?;
    let changed = hidden.seen(changed);
    let languages = Languages::negotiate(&headers, &caller.organisation);
    write.commit(Reply::data(to_json(&IncidentView::of(&changed, &languages))).in_language(&languages)).await
}

/// Reads `note`, which is optional.
fn read_note(body: &Map<String, Value>) -> Result<Option<String>, FieldErrors> {
    let errors = Errors::default();
    let fields = Fields::new(body, "", &errors);
    let note = match fields.nullable("note") {
        Given::Value(field) if !field.is_blank() => field.text(NOTE_LENGTH),
        Given::Absent | Given::Null | Given::Value(_) => None,
    };
    errors.into_inner().into_result(note)
}
