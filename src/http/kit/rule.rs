//! The rules of fields, each with its exact error text (contract 5.3).
//!
//! A [`FieldRule`] carries only the values that its text shows, never a submitted secret. `field_errors` stores the broken
//! rule of each field.

use std::sync::Arc;

use crate::clock::Timestamp;

/// A broken rule; its `Display` is the text that clients see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldRule {
    /// The key is missing (or its value is blank, where the contract counts blank as missing).
    #[error("This field is required.")]
    Required,
    /// The key has the value null, which this field does not allow.
    #[error("This field must not be null.")]
    NotNull,
    /// The value is not a JSON string.
    #[error("This value must be a string.")]
    String,
    /// The string contains the character U+0000, which PostgreSQL cannot store.
    #[error("The character U+0000 is not allowed.")]
    NoNul,
    /// The value is not a whole JSON number.
    #[error("This value must be a whole number.")]
    Integer,
    /// The value is not a JSON number.
    #[error("This value must be a number.")]
    Number,
    /// The value is neither `true` nor `false`.
    #[error("This value must be true or false.")]
    Boolean,
    /// The value is not a JSON array.
    #[error("This value must be a list.")]
    List,
    /// The value is not a JSON object.
    #[error("This value must be an object.")]
    Object,
    /// The string has fewer characters than this.
    #[error("Use at least {0} characters.")]
    MinLength(usize),
    /// The string has more characters than this.
    #[error("Use at most {0} characters.")]
    MaxLength(usize),
    /// The number is less than this.
    #[error("The smallest allowed value is {0}.")]
    Min(i64),
    /// The number is greater than this.
    #[error("The largest allowed value is {0}.")]
    Max(i64),
    /// The list has fewer entries than this.
    #[error("Send at least {0} entries.")]
    MinItems(usize),
    /// The list has more entries than this.
    #[error("Send at most {0} entries.")]
    MaxItems(usize),
    /// The settings take more bytes than this when stored.
    #[error("The stored settings may take at most {0} bytes.")]
    SettingsBytes(usize),
    /// The value is not one of the listed words; build this rule with [`FieldRule::unknown_word`].
    #[error("Unknown value. Allowed: {0}.")]
    Enum(String),
    /// The query parameter is neither true nor false.
    #[error("Use true or false.")]
    BooleanQuery,
    /// The query parameter takes a single value, but was sent in bracketed form.
    #[error("Send a single value.")]
    SingleValue,
    /// The text is not a timestamp in one of the forms of contract 1.6.
    #[error("This is not a valid ISO 8601 date or date-time between 1970 and 2200.")]
    Timestamp,
    /// The time is in the future.
    #[error("This time must not be in the future.")]
    NotFuture,
    /// The time is in the past.
    #[error("This time must be in the future.")]
    NotPast,
    /// The time is not later than the named field.
    #[error("This time must be later than {0}.")]
    After(&'static str),
    /// The time is earlier than the named field.
    #[error("This time must not be earlier than {0}.")]
    NotBefore(&'static str),
    /// The field is fixed at creation, and was sent with another value.
    #[error("This field cannot be changed after creation.")]
    Immutable,
    /// The key is unknown, and the contract refuses unknown keys here. Holds the known keys; build this rule with
    /// [`FieldRule::unknown_key`].
    #[error("Unknown field.")]
    UnknownKey(Arc<str>),
    /// The operation does not know this member of a strict request; build this rule with [`FieldRule::unknown_member`].
    #[error("Unknown field. {0}")]
    UnknownMember(String),
    /// The operation does not know this query parameter of a strict request; build this rule with
    /// [`FieldRule::unknown_parameter`].
    #[error("Unknown parameter. {0}")]
    UnknownParameter(String),
    /// The key of a strict request occurs more than once in one object.
    #[error("This key is there more than once. Send it once.")]
    RepeatedKey,
    /// The id is well-formed, but does not exist in the organisation.
    #[error("No {kind} with the ID {id} exists.")]
    UnknownId {
        /// Kind of the resource, such as `service`, `status page`, `tag` or `component`.
        kind: &'static str,
        /// The id as sent.
        id: String,
    },
    /// The text does not consist of 21 characters of the id alphabet.
    #[error("This is not a valid ID.")]
    IdForm,
    /// The cursor was not created by this server for this list.
    #[error("This cursor is not valid.")]
    Cursor,
    /// The organisation does not use this language.
    #[error("The organisation does not use the language {0}.")]
    LocaleUnknown(String),
    /// The text in the default language is missing.
    #[error("A text in the default language ({0}) is required.")]
    LocaleDefault(String),
    /// The status page does not offer the language.
    #[error("This language is not offered.")]
    LocaleSubset,
    /// The `Idempotency-Key` belongs to another request.
    #[error("This Idempotency-Key was used for a different request.")]
    IdempotencyMismatch,
    /// The target of an `http` service is invalid.
    #[error("Enter an absolute http or https URL.")]
    TargetUrl,
    /// The target of a `tcp` service is invalid.
    #[error("Enter host:port.")]
    TargetHostPort,
    /// The target of a `dns` or `ssl` service is invalid.
    #[error("Enter a host name.")]
    TargetHostName,
    /// The target of an `icmp` service is invalid.
    #[error("Enter a host name or an IP address.")]
    TargetHost,
    /// The code does not belong to an active location.
    #[error("No active location with the code {0} exists.")]
    Probe(String),
    /// Every location of the service would only count for reachability.
    #[error("At least one location must keep the role full.")]
    ProbeFull,
    /// A role was sent for a location that does not check the service.
    #[error("This location is not assigned to the service.")]
    ProbeRoleCode,
    /// `settings` were sent for a manual service.
    #[error("Manual services have no settings.")]
    SettingsManual,
    /// A ping address was requested for another check type.
    #[error("Only heartbeat services have a ping address.")]
    CheckTypeHeartbeat,
    /// The text does not have this form.
    #[error("Use {0}.")]
    Form(&'static str),
    /// The template cannot be rendered. Holds the position and the reason; templates are no secrets.
    #[error("This template cannot be filled: {0}.")]
    Template(String),
    /// The message is not dead, so it cannot be tried again.
    #[error("Only dead notifications can be tried again.")]
    NotDead,
    /// The placeholder was sent for a secret that is not stored.
    #[error("There is no stored value to keep for this field.")]
    SecretMissing,
    /// A stored secret would be sent to another target.
    #[error(
        "The stored value is used only for the scheme, host and port of the stored target; enter it again."
    )]
    SecretElsewhere,
    /// The placeholder was sent in a field that holds no secrets.
    #[error("The keep placeholder is only allowed for secret values.")]
    SecretMisplaced,
    /// The header name is not an RFC 9110 token of 1 to 256 characters.
    #[error("This is not a valid header name.")]
    HeaderName,
    /// The header value contains control characters.
    #[error("This is not a valid header value.")]
    HeaderValue,
    /// The header name occurs twice, perhaps in different spelling.
    #[error("This header is given twice.")]
    HeaderTwice,
    /// The header is set by the probe itself.
    #[error("This header cannot be set.")]
    HeaderReserved,
    /// The check type does not have this condition field.
    #[error("This field is not available for this check type.")]
    ConditionField,
    /// The DNS record type does not have this condition field.
    #[error("This field is not available for this record type.")]
    ConditionFieldOfRecord,
    /// The operator cannot compare the condition value with the field.
    #[error("This value does not fit the field and operator.")]
    ConditionValue,
    /// No tag with this id or name exists.
    #[error("No tag with the ID or name {0} exists.")]
    TagUnknown(String),
    /// The entry of `depends_on` does not exist.
    #[error("No service or tag with the ID or name {0} exists.")]
    DependencyUnknown(String),
    /// The entry of `depends_on` is the service itself.
    #[error("A service cannot depend on itself.")]
    DependencyItself,
    /// The dependencies form a cycle. Holds the names of its services in order.
    #[error("These services would depend on each other: {0}.")]
    DependencyCircle(String),
    /// The entry cannot be read as a tag name.
    #[error("This is not a valid tag name.")]
    TagForm,
    /// The tag key does not match its pattern.
    #[error(
        "Use 1 to 50 letters, digits, \"_\", \".\" or \"-\"; the first and the last must be a letter or digit."
    )]
    TagKey,
    /// The text is not a colour of the form `#RRGGBB`.
    #[error("Enter a colour as #RRGGBB.")]
    Color,
    /// The request would assign, delete or rename a system tag. Holds the forbidden action as a participle.
    #[error("Tags set by the server agent cannot be {0}.")]
    TagSystem(&'static str),
    /// A simulation was requested for a service that locations do not check.
    #[error("Only services that locations check can be simulated.")]
    NotProbed,
    /// A trial was requested of a check type that locations do not check.
    #[error("A service of this type reports itself or is set by people; there is nothing to try.")]
    NothingToTry,
    /// The effect of the setting cannot be derived from stored results.
    #[error("Stored results do not tell what this would have changed.")]
    NotReplayed,
    /// The period is before the start of the shown history.
    #[error("No results of this period are kept.")]
    NotKept,
    /// The period has more days than this.
    #[error("The period may have at most {0} days.")]
    PeriodDays(i64),
    /// The period has more stored results than this.
    #[error("There are more than {0} results in this period; ask for a shorter one.")]
    TooManyResults(usize),
    /// Locations would make too many checks in the period.
    #[error("There would be too many checks in this period; ask for a shorter one.")]
    TooManyLooks,
    /// A tag with the same key and value exists.
    #[error("A tag with this key and value exists already.")]
    TagExists,
    /// The tag is referenced by these items.
    #[error("This tag is still in use: {0}.")]
    TagInUse(String),
    /// The notification channel is used by these escalation policies.
    #[error("Escalation policies tell this notification channel: {0}.")]
    ChannelInUse(String),
    /// The notification channel is used by these contacts.
    #[error("Contacts are told by this notification channel: {0}.")]
    ChannelOfContacts(String),
    /// The contact is referenced by these items.
    #[error("This contact is still in use: {0}.")]
    ContactInUse(String),
    /// The on-call schedule is referenced by these escalation policies.
    #[error("Escalation policies tell whoever is on duty in this schedule: {0}.")]
    ScheduleInUse(String),
    /// This many rows of the kind exist, which is the maximum; some have to be deleted first.
    #[error("There may be at most {0} of these; delete some that are over.")]
    TooMany(u64),
    /// The time is more than this number of days after the named field.
    #[error("This time may be at most {0} days after {1}.")]
    DaysAfter(i64, &'static str),
    /// The step of an escalation policy has no recipients.
    #[error("Name at least one channel, contact or on-call schedule.")]
    StepNobody,
    /// The contact was not asked to cover.
    #[error("This contact was not asked.")]
    NotAsked,
    /// The schedule has no other contact who could be asked to cover.
    #[error("There is nobody else in this schedule who could be asked.")]
    NobodyToAsk,
    /// The contact asks itself to cover.
    #[error("Ask somebody else than the contact who asks.")]
    AsksItself,
    /// The member belongs to another kind of rotation.
    #[error("A rotation of this kind does not have this field.")]
    RotationField,
    /// The plan's limit of tags is reached.
    #[error("The plan allows {limit} tags; {usage} exist.")]
    TagQuota {
        /// The limit of the plan.
        limit: u32,
        /// The number of existing tags.
        usage: u64,
    },
    /// An access scope with the same name exists.
    #[error("An access scope with this name exists already.")]
    ScopeExists,
    /// The caller would give a permission that it does not have.
    #[error("You do not have the permission {0} yourself.")]
    PermissionNotHeld(&'static str),
    /// The caller would give a role with permissions that it does not have.
    #[error("This role has permissions that you do not have yourself.")]
    RoleBeyond,
    /// A token would live longer than its maker.
    #[error("A token must not be valid for longer than its maker, until {0}.")]
    ExpiryBeyond(Timestamp),
    /// The caller expires, and makes something that would not.
    #[error("This token expires on {0}; what it makes here would not.")]
    CallerExpires(Timestamp),
    /// Another user has this e-mail address.
    #[error("Another user has this e-mail address.")]
    AddressTaken,
    /// The change would leave the organisation without an owner.
    #[error(
        "An organisation needs an owner who is not confined to an access scope; make somebody else one first."
    )]
    LastOwner,
    /// These tokens are confined to the access scope.
    #[error("Tokens are confined to this access scope: {0}.")]
    ScopeInUse(String),
    /// The tags would make the service invisible to the writer.
    #[error("Keep at least one tag of the access scope of this token.")]
    ScopeTag,
    /// None of the linked services is visible to the writer.
    #[error("Name at least one service of the access scope of this token.")]
    ScopeService,
    /// The status is `resolved`, which only the resolve operation and timeline entries may set.
    #[error("Resolve the incident with the resolve operation or a timeline entry.")]
    ResolveHere,
    /// A resolution time was sent for an open incident.
    #[error("The incident is not resolved.")]
    NotResolved,
    /// Clients cannot create incidents of this kind.
    #[error("Incidents of this kind are made by the server only.")]
    KindServer,
    /// Automatic completion was requested for a maintenance without an end.
    #[error("Automatic completion needs a planned end.")]
    AutoCompleteEnd,
    /// The rule or time zone of a recurring window is invalid. Holds the whole error text.
    #[error("{0}")]
    Recurrence(String),
    /// An SLA target needs a service or a tag; neither or both were sent.
    #[error("Send either service_id or tag_id.")]
    SlaSubject,
    /// The objective is out of range, or has too many decimals.
    #[error("Use 50 to 99.9999 per cent, with at most four decimals.")]
    Objective,
    /// A number of days was sent for a calendar period.
    #[error("Only a rolling period has a number of days.")]
    RollingDays,
    /// Digests were requested for a kind of channel that does not support them.
    #[error("Channels of this kind take each message by itself.")]
    NoDigests,
    /// The name is not in the IANA time zone database.
    #[error("Unknown time zone. Use a name of the IANA database, such as Europe/Berlin.")]
    TimeZone,
    /// The text is not a time of day.
    #[error("Enter a time as HH:MM, from 00:00 to 24:00.")]
    ClockTime,
    /// The text does not name a period of a report: a word or a calendar day that is not in the future.
    #[error("Use current, previous or a day such as 2026-11-30 that is not in the future.")]
    ReportPeriod,
    /// More services than this carry the tag of an SLA target.
    #[error("More than {0} services carry this tag; a report covers at most so many.")]
    SlaServices(u64),
    /// The slug does not match its pattern.
    #[error("Use lower-case letters and digits, separated by single hyphens.")]
    SlugForm,
    /// The timeline is full, so no entry can be added.
    #[error("The timeline is full.")]
    TimelineFull,
    /// The slug is taken or reserved.
    #[error("This slug is not available.")]
    SlugTaken,
    /// The text is not an http, https or mailto URL.
    #[error("Enter an http, https or mailto URL.")]
    Url,
    /// The text is not an e-mail address.
    #[error("This is not a valid e-mail address.")]
    Email,
    /// The access type is password, but there is no password.
    #[error("This access type needs a password.")]
    PasswordNeeded,
    /// The access type is an address list, but there is no address.
    #[error("This access type needs at least one address.")]
    WhitelistNeeded,
    /// The plan's limit of published pages is reached.
    #[error("The plan allows {limit} published status pages; {usage} are published.")]
    PublishQuota {
        /// The limit of the plan.
        limit: u32,
        /// The number of published pages.
        usage: u64,
    },
    /// The group has children, so it cannot become a component.
    #[error("A group with components inside cannot become a component.")]
    GroupChildren,
    /// A group was linked to a service.
    #[error("A group cannot be linked to a service.")]
    GroupService,
    /// A component other than a group was set to follow a tag.
    #[error("Only a group can follow a tag.")]
    SyncGroup,
    /// The parent is not a group of the same status page.
    #[error("The parent must be a group of the same status page.")]
    ParentGroup,
    /// The group would be moved below itself.
    #[error("A group cannot be moved into itself.")]
    ParentCycle,
    /// The groups would be nested too deeply.
    #[error("Groups can be nested at most 5 levels deep.")]
    ParentDepth,
    /// The component is managed by a synced group.
    #[error("This component belongs to a synced group; change the tags of the service instead.")]
    Managed,
    /// The text is not a host name in lower case.
    #[error("Enter a host name in lower case, such as status.example.com.")]
    HostnameForm,
    /// The host name is taken or reserved.
    #[error("This host name is not available.")]
    HostnameTaken,
    /// The domain is not waiting for verification.
    #[error("This domain is not waiting for verification.")]
    DomainState,
    /// The server has no mail server to send through.
    #[error(
        "This server sends no mails to subscribers: its settings mail.smtp_host and mail.from are not set."
    )]
    MailMissing,
    /// The address is a subscriber of the page already.
    #[error("This address is subscribed to this page already.")]
    AddressSubscribed,
    /// A confirmation was to be skipped for a channel that is not asked for one.
    #[error("Only e-mail addresses are asked to confirm.")]
    NotConfirmed,
    /// The uploaded file is empty.
    #[error("The file is empty.")]
    FileEmpty,
    /// The uploaded file has more megabytes than this.
    #[error("The file may have at most {0} MB.")]
    FileSize(u32),
    /// The uploaded file has another type. Holds the allowed types.
    #[error("Allowed file types: {0}.")]
    FileType(&'static str),
    /// The image cannot be decoded, or has too many pixels.
    #[error("The image cannot be read or is too large.")]
    FileImage,
    /// The SVG contains forbidden parts.
    #[error("The SVG contains parts that are not allowed.")]
    FileSvg,
}

impl FieldRule {
    /// Creates the rule for an unknown word, with the allowed words.
    #[must_use]
    pub fn unknown_word(allowed: &[&str]) -> Self {
        Self::Enum(allowed.join(", "))
    }

    /// Creates the rule for an unknown key, with the known keys.
    #[must_use]
    pub fn unknown_key(known: &[&str]) -> Self {
        Self::UnknownKey(known.join(", ").into())
    }

    /// Returns the rule as it is reported for a strict request.
    #[must_use]
    pub fn into_strict(self) -> Self {
        match self {
            Self::UnknownKey(known) => Self::UnknownMember(allowed_of(&known)),
            other => other,
        }
    }

    /// Creates the rule for an unknown member, with the known members.
    #[must_use]
    pub fn unknown_member(allowed: &[&str]) -> Self {
        Self::UnknownMember(allowed_of(&allowed.join(", ")))
    }

    /// Creates the rule for an unknown query parameter, with the known parameters.
    #[must_use]
    pub fn unknown_parameter(allowed: &[String]) -> Self {
        Self::UnknownParameter(allowed_of(&allowed.join(", ")))
    }
}

fn allowed_of(names: &str) -> String {
    if names.is_empty() { "Nothing is allowed here.".into() } else { format!("Allowed: {names}.") }
}

#[cfg(test)]
mod tests;
