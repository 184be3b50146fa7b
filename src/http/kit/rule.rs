//! The rules of fields, each with its exact error text (contract 5.3).
//!
//! A [`FieldRule`] carries only the values that its text shows, never a submitted secret. `field_errors` maps fields to
//! broken rules.

use std::sync::Arc;

/// A broken rule; its `Display` is the text that clients see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldRule {
    /// The key is missing (or blank, where the contract counts blank as missing).
    #[error("This field is required.")]
    Required,
    /// The key has the value null, which this field does not allow.
    #[error("This field must not be null.")]
    NotNull,
    /// Not a JSON string.
    #[error("This value must be a string.")]
    String,
    /// A string with the character U+0000, which PostgreSQL cannot store.
    #[error("The character U+0000 is not allowed.")]
    NoNul,
    /// Not a JSON number without fraction.
    #[error("This value must be a whole number.")]
    Integer,
    /// Not a JSON number.
    #[error("This value must be a number.")]
    Number,
    /// Neither `true` nor `false`.
    #[error("This value must be true or false.")]
    Boolean,
    /// Not a JSON array.
    #[error("This value must be a list.")]
    List,
    /// Not a JSON object.
    #[error("This value must be an object.")]
    Object,
    /// Fewer characters than this.
    #[error("Use at least {0} characters.")]
    MinLength(usize),
    /// More characters than this.
    #[error("Use at most {0} characters.")]
    MaxLength(usize),
    /// Less than this.
    #[error("The smallest allowed value is {0}.")]
    Min(i64),
    /// More than this.
    #[error("The largest allowed value is {0}.")]
    Max(i64),
    /// Fewer entries than this.
    #[error("Send at least {0} entries.")]
    MinItems(usize),
    /// More entries than this.
    #[error("Send at most {0} entries.")]
    MaxItems(usize),
    /// Settings that take more bytes than this when stored.
    #[error("The stored settings may take at most {0} bytes.")]
    SettingsBytes(usize),
    /// Not one of the listed words; build it with [`FieldRule::unknown_word`].
    #[error("Unknown value. Allowed: {0}.")]
    Enum(String),
    /// A query parameter that is neither true nor false.
    #[error("Use true or false.")]
    BooleanQuery,
    /// A single-value query parameter in bracket form.
    #[error("Send a single value.")]
    SingleValue,
    /// Not one of the forms of contract 1.6.
    #[error("This is not a valid ISO 8601 date or date-time between 1970 and 2200.")]
    Timestamp,
    /// A time in the future.
    #[error("This time must not be in the future.")]
    NotFuture,
    /// A time in the past.
    #[error("This time must be in the future.")]
    NotPast,
    /// Not later than the named field.
    #[error("This time must be later than {0}.")]
    After(&'static str),
    /// Earlier than the named field.
    #[error("This time must not be earlier than {0}.")]
    NotBefore(&'static str),
    /// A field that is fixed at creation, with another value.
    #[error("This field cannot be changed after creation.")]
    Immutable,
    /// An unknown key that the contract refuses here, with the known ones; build it with [`FieldRule::unknown_key`].
    #[error("Unknown field.")]
    UnknownKey(Arc<str>),
    /// A member of a strict request that the operation does not know; build it with [`FieldRule::unknown_member`].
    #[error("Unknown field. {0}")]
    UnknownMember(String),
    /// A query parameter of a strict request that the operation does not know; build it with
    /// [`FieldRule::unknown_parameter`].
    #[error("Unknown parameter. {0}")]
    UnknownParameter(String),
    /// A key of a strict request that stands more than once in one object.
    #[error("This key is there more than once. Send it once.")]
    RepeatedKey,
    /// A well-formed id that does not exist in the organisation.
    #[error("No {kind} with the ID {id} exists.")]
    UnknownId {
        /// `service`, `status page`, `tag` or `component`.
        kind: &'static str,
        /// The id as sent.
        id: String,
    },
    /// Not 21 characters of the id alphabet.
    #[error("This is not a valid ID.")]
    IdForm,
    /// A cursor that this server did not create for this list.
    #[error("This cursor is not valid.")]
    Cursor,
    /// A language that the organisation does not use.
    #[error("The organisation does not use the language {0}.")]
    LocaleUnknown(String),
    /// The text in the default language is missing.
    #[error("A text in the default language ({0}) is required.")]
    LocaleDefault(String),
    /// A language that the status page does not offer.
    #[error("This language is not offered.")]
    LocaleSubset,
    /// The key belongs to another request.
    #[error("This Idempotency-Key was used for a different request.")]
    IdempotencyMismatch,
    /// Target of an `http` service.
    #[error("Enter an absolute http or https URL.")]
    TargetUrl,
    /// Target of a `tcp` service.
    #[error("Enter host:port.")]
    TargetHostPort,
    /// Target of a `dns` or `ssl` service.
    #[error("Enter a host name.")]
    TargetHostName,
    /// Target of an `icmp` service.
    #[error("Enter a host name or an IP address.")]
    TargetHost,
    /// A code that is not an active location.
    #[error("No active location with the code {0} exists.")]
    Probe(String),
    /// Every location in effect would only count for reachability.
    #[error("At least one location must keep the role full.")]
    ProbeFull,
    /// A role for a location that does not check the service.
    #[error("This location is not assigned to the service.")]
    ProbeRoleCode,
    /// `settings` of a manual service.
    #[error("Manual services have no settings.")]
    SettingsManual,
    /// A ping address requested for another type.
    #[error("Only heartbeat services have a ping address.")]
    CheckTypeHeartbeat,
    /// A text that does not have this form.
    #[error("Use {0}.")]
    Form(&'static str),
    /// A template that cannot be rendered: where and why. Templates are no secrets.
    #[error("This template cannot be filled: {0}.")]
    Template(String),
    /// A message that is not dead.
    #[error("Only dead notifications can be tried again.")]
    NotDead,
    /// The placeholder without a stored secret.
    #[error("There is no stored value to keep for this field.")]
    SecretMissing,
    /// The placeholder in a field without secrets.
    #[error("The keep placeholder is only allowed for secret values.")]
    SecretMisplaced,
    /// Not an RFC 9110 token of 1 to 256 characters.
    #[error("This is not a valid header name.")]
    HeaderName,
    /// A header value with control characters.
    #[error("This is not a valid header value.")]
    HeaderValue,
    /// A repeated header name, perhaps in another spelling.
    #[error("This header is given twice.")]
    HeaderTwice,
    /// A header that the probe sets itself.
    #[error("This header cannot be set.")]
    HeaderReserved,
    /// A condition field that this check type does not have.
    #[error("This field is not available for this check type.")]
    ConditionField,
    /// A condition field that this DNS record type does not have.
    #[error("This field is not available for this record type.")]
    ConditionFieldOfRecord,
    /// A condition value that cannot be compared with the field by the operator.
    #[error("This value does not fit the field and operator.")]
    ConditionValue,
    /// An entry in the form of a tag id that does not exist.
    #[error("No tag with the ID or name {0} exists.")]
    TagUnknown(String),
    /// An entry of `depends_on` that does not exist.
    #[error("No service or tag with the ID or name {0} exists.")]
    DependencyUnknown(String),
    /// An entry of `depends_on` that is the service itself.
    #[error("A service cannot depend on itself.")]
    DependencyItself,
    /// A dependency cycle: the names of its services in order.
    #[error("These services would depend on each other: {0}.")]
    DependencyCircle(String),
    /// An entry that cannot be read as a tag name.
    #[error("This is not a valid tag name.")]
    TagForm,
    /// A tag key that does not match its pattern.
    #[error(
        "Use 1 to 50 letters, digits, \"_\", \".\" or \"-\"; the first and the last must be a letter or digit."
    )]
    TagKey,
    /// Not `#RRGGBB`.
    #[error("Enter a colour as #RRGGBB.")]
    Color,
    /// A system tag must not be `assigned`, `deleted` or `renamed`.
    #[error("Tags set by the server agent cannot be {0}.")]
    TagSystem(&'static str),
    /// A simulation of a service without locations.
    #[error("Only services that locations check can be simulated.")]
    NotProbed,
    /// A setting whose effect cannot be derived from stored results.
    #[error("Stored results do not tell what this would have changed.")]
    NotReplayed,
    /// A period of which nothing is stored, or shown.
    #[error("No results of this period are kept.")]
    NotKept,
    /// A period of more than this number of days.
    #[error("The period may have at most {0} days.")]
    PeriodDays(i64),
    /// A period with more than this number of stored results.
    #[error("There are more than {0} results in this period; ask for a shorter one.")]
    TooManyResults(usize),
    /// A period in which locations would make too many checks.
    #[error("There would be too many checks in this period; ask for a shorter one.")]
    TooManyLooks,
    /// A second tag with the same key and value.
    #[error("A tag with this key and value exists already.")]
    TagExists,
    /// A tag that is referenced by these items.
    #[error("This tag is still in use: {0}.")]
    TagInUse(String),
    /// A notification channel that is used by these escalation policies.
    #[error("Escalation policies tell this notification channel: {0}.")]
    ChannelInUse(String),
    /// A notification channel that is used by these contacts.
    #[error("Contacts are told by this notification channel: {0}.")]
    ChannelOfContacts(String),
    /// A contact that is referenced by these items.
    #[error("This contact is still in use: {0}.")]
    ContactInUse(String),
    /// An on-call schedule that is referenced by these escalation policies.
    #[error("Escalation policies tell whoever is on duty in this schedule: {0}.")]
    ScheduleInUse(String),
    /// More rows than this of a kind that users delete themselves.
    #[error("There may be at most {0} of these; delete some that are over.")]
    TooMany(u64),
    /// More than this number of days after the named field.
    #[error("This time may be at most {0} days after {1}.")]
    DaysAfter(i64, &'static str),
    /// A step of an escalation policy without recipients.
    #[error("Name at least one channel, contact or on-call schedule.")]
    StepNobody,
    /// A contact that was not asked to cover.
    #[error("This contact was not asked.")]
    NotAsked,
    /// A schedule with no contact other than the asker.
    #[error("There is nobody else in this schedule who could be asked.")]
    NobodyToAsk,
    /// A contact that asks itself to cover.
    #[error("Ask somebody else than the contact who asks.")]
    AsksItself,
    /// A member that belongs to another kind of rotation.
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
    /// A second access scope with the same name.
    #[error("An access scope with this name exists already.")]
    ScopeExists,
    /// An access scope that these tokens are confined to.
    #[error("Tokens are confined to this access scope: {0}.")]
    ScopeInUse(String),
    /// Tags that would make a service invisible to its own writer.
    #[error("Keep at least one tag of the access scope of this token.")]
    ScopeTag,
    /// Links without any service that is visible to the writer.
    #[error("Name at least one service of the access scope of this token.")]
    ScopeService,
    /// `resolved`, which only the resolve operation may set.
    #[error("Resolve the incident with the resolve operation or a timeline entry.")]
    ResolveHere,
    /// A resolution time for an open incident.
    #[error("The incident is not resolved.")]
    NotResolved,
    /// An incident kind that clients cannot create.
    #[error("Incidents of this kind are made by the server only.")]
    KindServer,
    /// Automatic completion of a maintenance without an end.
    #[error("Automatic completion needs a planned end.")]
    AutoCompleteEnd,
    /// An invalid rule or time zone of a recurring window, with its own text.
    #[error("{0}")]
    Recurrence(String),
    /// Neither a service nor a tag for an SLA target, or both.
    #[error("Send either service_id or tag_id.")]
    SlaSubject,
    /// An invalid objective.
    #[error("Use 50 to 99.9999 per cent, with at most four decimals.")]
    Objective,
    /// A number of days for a calendar period.
    #[error("Only a rolling period has a number of days.")]
    RollingDays,
    /// Digests for a kind of channel without support for them.
    #[error("Channels of this kind take each message by itself.")]
    NoDigests,
    /// Not a name of the IANA database.
    #[error("Unknown time zone. Use a name of the IANA database, such as Europe/Berlin.")]
    TimeZone,
    /// Not a time of day.
    #[error("Enter a time as HH:MM, from 00:00 to 24:00.")]
    ClockTime,
    /// Not a calendar day.
    #[error("Use current, previous or a day such as 2026-11-30 that is not in the future.")]
    ReportPeriod,
    /// More than this number of services carry the tag of an SLA target.
    #[error("More than {0} services carry this tag; a report covers at most so many.")]
    SlaServices(u64),
    /// A slug that does not match its pattern.
    #[error("Use lower-case letters and digits, separated by single hyphens.")]
    SlugForm,
    /// A further entry of a full timeline.
    #[error("The timeline is full.")]
    TimelineFull,
    /// A slug that is taken or reserved.
    #[error("This slug is not available.")]
    SlugTaken,
    /// Not an http, https or mailto URL.
    #[error("Enter an http, https or mailto URL.")]
    Url,
    /// Not an e-mail address.
    #[error("This is not a valid e-mail address.")]
    Email,
    /// Access by password without a password.
    #[error("This access type needs a password.")]
    PasswordNeeded,
    /// Access by address without an address.
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
    /// A group with children cannot become a component.
    #[error("A group with components inside cannot become a component.")]
    GroupChildren,
    /// A group with a service.
    #[error("A group cannot be linked to a service.")]
    GroupService,
    /// A component other than a group cannot follow a tag.
    #[error("Only a group can follow a tag.")]
    SyncGroup,
    /// A parent that is not a group of the page.
    #[error("The parent must be a group of the same status page.")]
    ParentGroup,
    /// A group that would be below itself.
    #[error("A group cannot be moved into itself.")]
    ParentCycle,
    /// Groups nested too deep.
    #[error("Groups can be nested at most 5 levels deep.")]
    ParentDepth,
    /// A component that is managed by a synced group.
    #[error("This component belongs to a synced group; change the tags of the service instead.")]
    Managed,
    /// Not a host name in lower case.
    #[error("Enter a host name in lower case, such as status.example.com.")]
    HostnameForm,
    /// A host name that is taken or reserved.
    #[error("This host name is not available.")]
    HostnameTaken,
    /// A domain that is not waiting for verification.
    #[error("This domain is not waiting for verification.")]
    DomainState,
    /// An upload without bytes.
    #[error("The file is empty.")]
    FileEmpty,
    /// An upload beyond this many megabytes.
    #[error("The file may have at most {0} MB.")]
    FileSize(u32),
    /// An upload of another type; holds the allowed ones.
    #[error("Allowed file types: {0}.")]
    FileType(&'static str),
    /// An image that cannot be decoded or has too many pixels.
    #[error("The image cannot be read or is too large.")]
    FileImage,
    /// An SVG with forbidden parts.
    #[error("The SVG contains parts that are not allowed.")]
    FileSvg,
}

impl FieldRule {
    /// The `enum` rule with the allowed words.
    #[must_use]
    pub fn unknown_word(allowed: &[&str]) -> Self {
        Self::Enum(allowed.join(", "))
    }

    /// The rule for an unknown key, with the known ones.
    #[must_use]
    pub fn unknown_key(known: &[&str]) -> Self {
        Self::UnknownKey(known.join(", ").into())
    }

    /// The rule as reported for a strict request.
    #[must_use]
    pub fn into_strict(self) -> Self {
        match self {
            Self::UnknownKey(known) => Self::UnknownMember(allowed_of(&known)),
            other => other,
        }
    }

    /// The rule for an unknown member, with the known ones.
    #[must_use]
    pub fn unknown_member(allowed: &[&str]) -> Self {
        Self::UnknownMember(allowed_of(&allowed.join(", ")))
    }

    /// The rule for an unknown query parameter, with the known ones.
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
