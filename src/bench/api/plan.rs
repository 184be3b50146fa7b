//! The plan of one run of `watchkeeper bench api`: its flags and the kinds of requests.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

/// A kind of request that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeasuredRequest {
    /// The floor: a bare read by key.
    Floor,
    /// `GET /v1/services/{id}`.
    Service,
    /// `GET /v1/services`.
    List,
    /// `GET /v1/services?tag=`, which finds a tenth of the services.
    ListOfTag,
    /// `GET /v1/services?check_type=`, which finds nearly all services.
    ListOfType,
    /// `GET /v1/services?status=`, which finds most services.
    ListOfStatus,
    /// `GET /v1/services?q=`, which finds few services.
    ListOfText,
    /// `POST /v1/incidents`.
    Incident,
    /// `GET /v1/services/{id}` while others write.
    ServiceBesideWrites,
    /// `GET /v1/services` while others write.
    ListBesideWrites,
}

impl MeasuredRequest {
    const ALL: [Self; 10] = [
        Self::Floor,
        Self::Service,
        Self::List,
        Self::ListOfTag,
        Self::ListOfType,
        Self::ListOfStatus,
        Self::ListOfText,
        Self::Incident,
        Self::ServiceBesideWrites,
        Self::ListBesideWrites,
    ];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Service => "service",
            Self::List => "list",
            Self::ListOfTag => "list_of_tag",
            Self::ListOfType => "list_of_type",
            Self::ListOfStatus => "list_of_status",
            Self::ListOfText => "list_of_text",
            Self::Incident => "incident",
            Self::ServiceBesideWrites => "service_beside_writes",
            Self::ListBesideWrites => "list_beside_writes",
        }
    }

    /// Returns a description of the request for the report.
    pub(super) const fn described(self) -> &'static str {
        match self {
            Self::Floor => "a bare read by key (floor)",
            Self::Service => "GET /v1/services/{id}",
            Self::List => "GET /v1/services",
            Self::ListOfTag => "GET /v1/services?tag=",
            Self::ListOfType => "GET /v1/services?check_type=",
            Self::ListOfStatus => "GET /v1/services?status=",
            Self::ListOfText => "GET /v1/services?q=",
            Self::Incident => "POST /v1/incidents",
            Self::ServiceBesideWrites => "GET /v1/services/{id}, beside writes",
            Self::ListBesideWrites => "GET /v1/services, beside writes",
        }
    }

    /// Returns true if pings and changes are written concurrently.
    pub(super) const fn has_writes(self) -> bool {
        matches!(self, Self::ServiceBesideWrites | Self::ListBesideWrites)
    }

    /// Returns the promised requests per second on two cores; `None` where nothing is promised.
    pub(super) const fn promised(self) -> Option<u32> {
        match self {
            Self::Floor | Self::ListOfTag | Self::ListOfType | Self::ListOfStatus | Self::ListOfText => None,
            Self::Service | Self::ServiceBesideWrites => Some(20_000),
            Self::List => Some(5_000),
            Self::ListBesideWrites => Some(10_000),
            Self::Incident => Some(1_000),
        }
    }
}

/// The plan of one run.
#[derive(Clone, Debug)]
pub(super) struct ApiBenchPlan {
    /// Services in the database.
    pub(super) services: u32,
    /// Concurrent checks per second.
    pub(super) checks: u32,
    /// Keep-alive connections.
    pub(super) connections: u32,
    /// Length of each measurement, in seconds.
    pub(super) seconds: u32,
    /// True for JSON instead of a table.
    pub(super) as_json: bool,
}

impl ApiBenchPlan {
    pub(super) fn of(arguments: &ArgMatches) -> Self {
        let number = |name: &str| arguments.get_one::<u32>(name).copied().unwrap_or(1);
        Self {
            services: number("services"),
            checks: number("checks"),
            connections: number("connections"),
            seconds: number("seconds"),
            as_json: arguments.get_flag("json"),
        }
    }

    /// Returns the kinds of requests to measure, in order.
    pub(super) fn questions(&self) -> impl Iterator<Item = MeasuredRequest> + use<> {
        MeasuredRequest::ALL.into_iter()
    }

    /// Seconds between two checks of a service, so that all services together reach the planned rate.
    pub(super) fn interval_seconds(&self) -> u32 {
        self.services.div_ceil(self.checks).max(1)
    }
}

/// `watchkeeper bench api` and its flags.
pub(super) fn command() -> Command {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        let range = value_parser!(u32).range(1..=1_000_000);
        Arg::new(name).long(name).value_name("N").default_value(default).value_parser(range).help(help)
    };
    Command::new("api")
        .about("Measure the API: requests a second and their latency, with checks beside")
        .long_about(
            "Measure the API of a real `watchkeeper serve` in another process and a temporary folder, over keep-alive \
             connections: one service, lists of 15 (all services, and those with a tag, of a type, of a status, or with a text), a new incident \
             (durable when it is answered). Its services are checked meanwhile. The first two reads are measured once more while 200 pings and 50 changes a second are committed. A bare read by key from SQLite behind the same web framework shows what the machine can do.\n\n\
             Client and server share the machine.",
        )
        .args([
            number("services", "1000", "Services in the database"),
            number("checks", "1000", "Checks a second beside"),
            number("connections", "64", "Connections that are kept alive"),
            number("seconds", "5", "Length of each measurement"),
            Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for machines"),
        ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_flags_the_documented_load_is_measured() {
        let plan = ApiBenchPlan::of(&command().try_get_matches_from(["api"]).unwrap());
        assert_eq!((plan.services, plan.checks, plan.connections), (1_000, 1_000, 64));
        assert_eq!(plan.interval_seconds(), 1);
        assert!(!plan.as_json);
    }

    #[test]
    fn a_low_check_rate_means_long_intervals() {
        let plan = ApiBenchPlan::of(&command().try_get_matches_from(["api", "--checks", "100"]).unwrap());
        assert_eq!(plan.interval_seconds(), 10);
    }
}
