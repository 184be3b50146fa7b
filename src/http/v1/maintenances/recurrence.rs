//! Reads `recurrence` in a body, a rule of RFC 5545 and a time zone, together with the first window.
//!
//! Evaluating a rule may take some milliseconds, so it is evaluated before the transaction begins. Nothing is looked up
//! here.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field::BodyField;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::rule::FieldRule;
use crate::model::recurrence::rule::RecurrenceRule;
use crate::model::recurrence::zone::IanaZone;
use crate::model::recurrence::{Occurrence, Recurrence, RecurrenceProblem};

const MEMBERS: [&str; 2] = ["rrule", "time_zone"];

/// Reads the recurrence of a create request; `None` if there is none. The window itself is checked as for any maintenance.
pub(super) fn read(body: &Map<String, Value>, now: Timestamp) -> Result<Option<Recurrence>, FieldErrors> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let Some(field) = fields.skippable("recurrence") else { return Ok(None) };
    if fields.skippable("scheduled_end").is_none() {
        fields.refuse("scheduled_end", FieldRule::Required);
    }
    let parts = field.object().and_then(|members| {
        members.refuse_unknown(&MEMBERS);
        let rule = members.required("rrule").and_then(|field| read_rule(&field));
        let zone = members.required("time_zone").and_then(|field| read_zone(&field));
        rule.zip(zone)
    });
    let found = errors.into_inner();
    let (Some((rule, zone)), Some(window)) = (parts, sound_window(body, now)) else {
        return found.into_result(None);
    };
    let recurrence = Recurrence::new(rule, zone, window).and_then(|recurrence| {
        recurrence.judge(now)?;
        Ok(recurrence)
    });
    match recurrence {
        Ok(recurrence) => found.into_result(Some(recurrence)),
        Err(misfit) => Err(with(found, &misfit)),
    }
}

/// Returns the stored recurrence with the changes of an update. Without a new start, a new rule starts with its first time
/// at or after the stored start, and a new zone keeps the local time. Without a new end, windows keep their length. An
/// unchanged start may be in the past.
pub(in crate::http::v1) fn revise(
    body: &Map<String, Value>,
    stored: &Recurrence,
    now: Timestamp,
) -> Result<Recurrence, FieldErrors> {
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    let (rule, zone) = read_changes(&fields, stored);
    let is_new_rule = rule != stored.rule || zone != stored.zone;
    let window = stored.window();
    let changed_time = |name, stored| {
        let sent = fields.optional(name).and_then(|field| field.timestamp());
        sent.filter(|at| is_new_rule || *at != stored)
    };
    let (start, end) =
        (changed_time("scheduled_start", window.start), changed_time("scheduled_end", window.end));
    errors.into_inner().into_result(())?;
    if !is_new_rule && start.is_none() && end.is_none() {
        return Ok(stored.clone());
    }
    let moved = move_to(stored, rule, zone, start, end).and_then(|moved| {
        moved.judge(now)?;
        Ok(moved)
    });
    let moved = moved.map_err(|misfit| with(FieldErrors::default(), &misfit))?;
    if start.is_some_and(|start| start != window.start) && moved.window().end <= now {
        return Err(FieldErrors::of("scheduled_start", FieldRule::NotPast));
    }
    Ok(moved)
}

fn move_to(
    stored: &Recurrence,
    rule: RecurrenceRule,
    zone: IanaZone,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
) -> Result<Recurrence, RecurrenceProblem> {
    let moved = match start {
        Some(start) => stored.starting(rule.clone(), zone, start)?,
        None => stored.following(rule.clone(), zone)?,
    };
    match end {
        Some(end) => Recurrence::new(rule, zone, Occurrence { start: moved.window().start, end }),
        None => Ok(moved),
    }
}

/// Reads rule and zone of an update; if one is missing, the stored one is kept.
fn read_changes(fields: &BodyFields<'_>, stored: &Recurrence) -> (RecurrenceRule, IanaZone) {
    let field = fields.optional("recurrence");
    let members = field.as_ref().and_then(BodyField::object);
    if let Some(members) = &members {
        members.refuse_unknown(&MEMBERS);
    }
    let sent = |name| members.as_ref().and_then(|members| members.optional(name));
    let rule = sent("rrule").and_then(|field| read_rule(&field));
    let zone = sent("time_zone").and_then(|field| read_zone(&field));
    (rule.unwrap_or_else(|| stored.rule.clone()), zone.unwrap_or(stored.zone))
}

fn read_rule(field: &BodyField<'_>) -> Option<RecurrenceRule> {
    let text = field.string()?;
    text.parse().map_or_else(|problem| refuse(field, &problem), Some)
}

fn read_zone(field: &BodyField<'_>) -> Option<IanaZone> {
    let name = field.string()?;
    name.trim().parse().map_or_else(|problem| refuse(field, &problem), Some)
}

fn refuse<T>(field: &BodyField<'_>, problem: &dyn ToString) -> Option<T> {
    field.refuse(FieldRule::Recurrence(problem.to_string()))
}

/// Returns the window of a create request; `None` if it is invalid.
fn sound_window(body: &Map<String, Value>, now: Timestamp) -> Option<Occurrence> {
    let ignored = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &ignored);
    let moment = |name| fields.optional(name)?.timestamp();
    let window = Occurrence { start: moment("scheduled_start")?, end: moment("scheduled_end")? };
    (window.start < window.end && window.end > now).then_some(window)
}

fn with(mut errors: FieldErrors, misfit: &RecurrenceProblem) -> FieldErrors {
    let path = match misfit {
        RecurrenceProblem::Backwards | RecurrenceProblem::Twice(_) => "scheduled_end",
        RecurrenceProblem::NotFirst(_) => "scheduled_start",
        _ => "recurrence.rrule",
    };
    errors.add(path, FieldRule::Recurrence(misfit.to_string()));
    errors
}

/// Returns both values, or the errors of both.
pub(in crate::http::v1) fn combine_results<A, B>(
    one: Result<A, FieldErrors>,
    other: Result<B, FieldErrors>,
) -> Result<(A, B), FieldErrors> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(mut errors), Err(others)) => {
            errors.extend(others);
            Err(errors)
        }
        (Err(errors), Ok(_)) | (Ok(_), Err(errors)) => Err(errors),
    }
}

#[cfg(test)]
mod tests;
