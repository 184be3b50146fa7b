//! Reads `tags` of a service (contract 4.3.6): finds the named tags, and assigns them to the service.
//!
//! All entries are resolved before anything is stored. The organisation is locked from the lookup of the tags until the end
//! of the transaction, so that two requests with the same new tag create it once.

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::gate::auth::Caller;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::rule::FieldRule;
use crate::http::v1::tags::entries::{TagEntry, read_entries};
use crate::id::Id;
use crate::model::service::ServiceKey;
use crate::model::tag::{Tag, TagName, TagSource};
use crate::model::visibility::Visibility;
use crate::store::{Transaction, access_scopes, organisations, tags};

/// Maximum number of tags of a service.
pub(super) const TAGS_MAX: usize = 50;

/// The tags named in a body, and the errors found in them.
pub(super) struct TagInput {
    pub(super) errors: FieldErrors,
    /// The tags that were sent; `None` when the body has no `tags`.
    choice: Option<TagChoice>,
}

/// The tags that a service has and will have, without repetitions.
struct TagChoice {
    carried: Vec<Tag>,
    known: Vec<i64>,
    /// Names of tags to be created, each with the index of its first entry.
    new: Vec<(usize, TagName)>,
}

impl TagInput {
    /// Creates the input of a body whose tags are not read.
    pub(super) fn unread() -> Self {
        Self { errors: FieldErrors::default(), choice: None }
    }

    /// Reads the body of a write to a service (`None` = a new service), and looks up the tags.
    pub(super) async fn read(
        body: &Map<String, Value>,
        transaction: &Transaction,
        caller: &Caller,
        service: Option<ServiceKey>,
    ) -> Result<Self, ApiError> {
        let (entries, errors) = read_entries(body, TAGS_MAX);
        let visibility = caller.visibility();
        let Some(entries) = entries else {
            let tagging = Self { errors, choice: None };
            return Ok(if service.is_none() && visibility.is_confined() {
                tagging.outside()
            } else {
                tagging
            });
        };
        organisations::lock(transaction, caller.organisation.key).await?;
        let ids: Vec<Id> = entries.iter().flatten().filter_map(TagEntry::id).collect();
        let names: Vec<TagName> = entries.iter().flatten().filter_map(TagEntry::name).cloned().collect();
        let known = tags::find_all(transaction, visibility, &ids, &names).await?;
        let carried = match service {
            Some(service) => tags::of_services(transaction, &[service]).await?.remove(&service),
            None => None,
        };
        let tagging = Self::resolve(&entries, &known, carried.unwrap_or_default());
        if visibility.is_confined() { tagging.confined(transaction, visibility).await } else { Ok(tagging) }
    }

    /// Applies the restrictions of a caller that is confined to an access scope: no tags are created, an invisible tag
    /// counts as unknown, and the service must remain visible.
    async fn confined(mut self, transaction: &Transaction, visibility: Visibility) -> Result<Self, ApiError> {
        let Some(choice) = &self.choice else { return Ok(self) };
        for (index, name) in &choice.new {
            self.errors.add(format!("tags.{index}"), FieldRule::TagUnknown(name.label()));
        }
        self.errors = self.errors.sorted_by_index();
        let stays = access_scopes::has_one_of(transaction, visibility, &choice.rows()).await?;
        Ok(if stays || !self.errors.is_empty() { self } else { self.outside() })
    }

    fn outside(mut self) -> Self {
        if self.errors.is_empty() {
            self.errors.add("tags", FieldRule::ScopeTag);
        }
        self
    }

    fn resolve(entries: &[Result<TagEntry, FieldRule>], known: &[Tag], carried: Vec<Tag>) -> Self {
        let mut errors = FieldErrors::default();
        let mut choice = TagChoice { carried, known: Vec::new(), new: Vec::new() };
        for (index, entry) in entries.iter().enumerate() {
            let taken = entry.clone().and_then(|wanted| choice.take(index, wanted, known));
            if let Err(rule) = taken {
                errors.add(format!("tags.{index}"), rule);
            }
        }
        Self { errors, choice: Some(choice) }
    }

    /// Returns true if the tags of the service will change.
    pub(super) fn is_change(&self) -> bool {
        self.choice.as_ref().is_some_and(|choice| {
            let before: Vec<i64> = choice.carried.iter().map(|tag| tag.row).collect();
            let after = choice.rows();
            !choice.new.is_empty()
                || before.len() != after.len()
                || before.iter().any(|row| !after.contains(row))
        })
    }

    /// Creates new tags, within the limit of the plan, and assigns the tags to the service.
    pub(super) async fn store(
        &self,
        transaction: &Transaction,
        caller: &Caller,
        service: ServiceKey,
        now: Timestamp,
    ) -> Result<(), ApiError> {
        let Some(choice) = &self.choice else { return Ok(()) };
        let organisation = caller.organisation.key;
        if let Some(limit) = caller.limits.tags.filter(|_| !choice.new.is_empty()) {
            let usage = tags::count_user(transaction, organisation).await?;
            let free = usize::try_from(u64::from(limit).saturating_sub(usage)).unwrap_or(usize::MAX);
            if let Some((index, _)) = choice.new.get(free) {
                let rule = FieldRule::TagQuota { limit, usage };
                return Err(ApiError::Fields(FieldErrors::of(format!("tags.{index}"), rule)));
            }
        }
        let mut rows = choice.rows();
        for (_, name) in &choice.new {
            let tag = Tag::new(organisation, name.clone(), None, now);
            rows.push(tags::insert(transaction, tag).await?.row);
        }
        Ok(tags::set_of_service(transaction, service, &rows).await?)
    }
}

impl TagChoice {
    fn take(&mut self, index: usize, wanted: TagEntry, known: &[Tag]) -> Result<(), FieldRule> {
        let found = match &wanted {
            TagEntry::Existing(..) => Some(wanted.find(known).ok_or_else(|| wanted.unknown())?),
            TagEntry::Named(_) => wanted.find(known),
        };
        match (found, wanted) {
            (Some(tag), _) if tag.source == TagSource::System => {
                let is_carried = self.carried.iter().any(|carried| carried.row == tag.row);
                return if is_carried { Ok(()) } else { Err(FieldRule::TagSystem("assigned")) };
            }
            (Some(tag), _) if !self.known.contains(&tag.row) => self.known.push(tag.row),
            (None, TagEntry::Named(name)) if self.new.iter().all(|(_, known)| *known != name) => {
                self.new.push((index, name));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the database keys of the existing tags that the service will have. Tags set by the server agent are kept.
    fn rows(&self) -> Vec<i64> {
        let staying = self.carried.iter().filter(|tag| tag.source == TagSource::System).map(|tag| tag.row);
        self.known.iter().copied().chain(staying).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const ID: &str = "8rumoia4tHtM30RLo1EcP";

    fn tag(row: i64, name: &str, source: TagSource) -> Tag {
        let tag = Tag::new(1, name.parse().unwrap(), None, Timestamp::from_ms(0));
        Tag { row, source, ..tag }
    }

    /// The existing tags: 1 env:prod, 2 env, 3 os:linux (system, carried by the service), 4 os:bsd (system), 5 named like an
    /// id.
    fn known() -> Vec<Tag> {
        vec![
            Tag { id: ID.parse().unwrap(), ..tag(1, "env:prod", TagSource::User) },
            tag(2, "env", TagSource::User),
            tag(3, "os:linux", TagSource::System),
            tag(4, "os:bsd", TagSource::System),
            tag(5, "zz93kfjw0dlqpx81mnrt5", TagSource::User),
        ]
    }

    /// Contract 4.3.6: database keys of existing tags, names of new tags, errors by index.
    #[rstest]
    #[case(json!([]), &[3], &[], &[])]
    #[case(json!(["env:prod"]), &[1, 3], &[], &[])]
    #[case(json!([ID]), &[1, 3], &[], &[])]
    #[case(json!([" ENV=prod ", ID, "env:prod"]), &[1, 3], &[], &[])]
    #[case(json!(["env:Prod", "env:Prod"]), &[3], &["env:Prod"], &[])]
    #[case(json!(["env", "env:"]), &[2, 3], &[], &[])]
    #[case(json!(["new", "a:1", "a=1"]), &[3], &["new", "a:1"], &[])]
    #[case(json!(["os:linux"]), &[3], &[], &[])]
    #[case(json!(["Zz93kfjw0dlqpx81mnrt5"]), &[5, 3], &[], &[])]
    #[case(json!(["zz93kfjw0dlqpx81mnrt5"]), &[5, 3], &[], &[])]
    #[case(json!(["aaaaaaaaaaaaaaaaaaaaa"]), &[3], &["aaaaaaaaaaaaaaaaaaaaa"], &[])]
    #[case(json!(["os:bsd"]), &[], &[], &[("tags.0", "Tags set by the server agent cannot be assigned.")])]
    #[case(
        json!(["env", "", 7, null, "-x", "AAAAAAAAAAAAAAAAAAAAA", "a:\u{1}b"]),
        &[], &[],
        &[
            ("tags.1", "Use at least 1 characters."),
            ("tags.2", "This value must be a string."),
            ("tags.3", "This field must not be null."),
            ("tags.4", "This is not a valid tag name."),
            ("tags.5", "No tag with the ID or name AAAAAAAAAAAAAAAAAAAAA exists."),
            ("tags.6", "This is not a valid tag name."),
        ]
    )]
    fn entries_are_ids_or_names(
        #[case] sent: Value,
        #[case] rows: &[i64],
        #[case] new: &[&str],
        #[case] errors: &[(&str, &str)],
    ) {
        let body = json!({ "tags": sent });
        let (entries, found) = read_entries(body.as_object().unwrap(), TAGS_MAX);
        assert!(found.is_empty());
        let carried = vec![tag(3, "os:linux", TagSource::System)];
        let tagging = TagInput::resolve(&entries.unwrap(), &known(), carried);
        let found = tagging.errors.iter().map(|(path, rule)| (path.to_owned(), rule.to_string()));
        let found: Vec<_> = found.collect();
        let expected: Vec<_> =
            errors.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        assert_eq!(found, expected);
        if errors.is_empty() {
            let choice = tagging.choice.unwrap();
            assert_eq!(choice.rows(), rows);
            assert_eq!(choice.new.iter().map(|(_, name)| name.label()).collect::<Vec<_>>(), new);
        }
    }

    #[test]
    fn absent_and_null_tags_change_nothing() {
        for body in [json!({}), json!({"tags": null})] {
            let (entries, errors) = read_entries(body.as_object().unwrap(), TAGS_MAX);
            assert!(entries.is_none() && errors.is_empty());
        }
    }

    #[rstest]
    #[case(json!(["env:prod"]), false)]
    #[case(json!([ID, "env=prod"]), false)]
    #[case(json!(["env:prod", "env"]), true)]
    #[case(json!(["env"]), true)]
    #[case(json!([]), true)]
    #[case(json!(["env:prod", "new"]), true)]
    fn the_same_tags_are_no_change(#[case] sent: Value, #[case] expected: bool) {
        let body = json!({ "tags": sent });
        let (entries, _) = read_entries(body.as_object().unwrap(), TAGS_MAX);
        let carried = vec![tag(1, "env:prod", TagSource::User), tag(3, "os:linux", TagSource::System)];
        assert_eq!(TagInput::resolve(&entries.unwrap(), &known(), carried).is_change(), expected);
    }
}
