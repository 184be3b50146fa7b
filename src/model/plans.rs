//! The limits of each plan: the table of contract 3.1 with the changes of the operator.

use crate::config::sources::ConfigError;
use crate::config::{PlanSettings, PlanValue};
use crate::model::access::{Organisation, Plan, PlanLimits};

/// The limits of every plan.
#[derive(Clone, Debug)]
pub struct PlanTable {
    plans: Vec<(Plan, PlanLimits)>,
}

impl PlanTable {
    /// The table of contract 3.1 with the changes in the settings `[plans.*]`.
    ///
    /// # Errors
    /// For an unknown plan or key, and for a value that is not allowed.
    pub fn new(deviations: &PlanSettings) -> Result<Self, ConfigError> {
        let mut plans: Vec<(Plan, PlanLimits)> =
            Plan::ALL.into_iter().map(|plan| (plan, plan.default_limits())).collect();
        for (name, settings) in &deviations.0 {
            let found = plans.iter_mut().find(|(plan, _)| plan.as_str() == name);
            let Some((_, limits)) = found else {
                return Err(ConfigError(format!(
                    "plans.{name} is not a plan; allowed: free, solo, team, business"
                )));
            };
            for (key, PlanValue(value)) in settings {
                set(limits, key, value).map_err(|allowed| {
                    ConfigError(format!(
                        "plans.{name}.{key} = \"{value}\" is not allowed; it must be {allowed}"
                    ))
                })?;
            }
        }
        Ok(Self { plans })
    }

    /// Returns the limits of an organisation.
    #[must_use]
    pub fn limits(&self, organisation: &Organisation) -> PlanLimits {
        if organisation.self_hosted {
            return PlanLimits::self_hosted();
        }
        let found = self.plans.iter().find(|(plan, _)| *plan == organisation.plan);
        found.map_or_else(|| organisation.plan.default_limits(), |(_, limits)| limits.clone())
    }
}

const COUNT: &str = "a whole number, or unlimited";

fn set(limits: &mut PlanLimits, key: &str, value: &str) -> Result<(), &'static str> {
    let count = || if value == "unlimited" { Ok(None) } else { value.parse().map(Some).map_err(|_| COUNT) };
    let positive = || value.parse::<u32>().ok().filter(|number| *number > 0).ok_or("a whole number from 1");
    match key {
        "api_access" => limits.api_access = value.parse().map_err(|_| "true or false")?,
        "services" => limits.services = count()?,
        "tags" => limits.tags = count()?,
        "published_statuspages" => limits.published_statuspages = count()?,
        "statuspages" => limits.statuspages = count()?,
        "components" => limits.components = count()?,
        "custom_domains" => limits.custom_domains = count()?,
        "incident_policies" => limits.incident_policies = count()?,
        "access_scopes" => limits.access_scopes = count()?,
        "maintenance_series" => limits.maintenance_series = count()?,
        "notification_channels" => limits.notification_channels = count()?,
        "sla_targets" => limits.sla_targets = count()?,
        "escalation_policies" => limits.escalation_policies = count()?,
        "contacts" => limits.contacts = count()?,
        "oncall_schedules" => limits.oncall_schedules = count()?,
        "subscribers" => limits.subscribers = count()?,
        "min_interval_seconds" => limits.min_interval_seconds = positive()?,
        "retention_days" => limits.retention_days = positive()?,
        _ => return Err("a key of the plan table such as services or min_interval_seconds"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;

    use super::*;

    fn deviation(plan: &str, key: &str, value: &str) -> PlanSettings {
        let settings = BTreeMap::from([(key.into(), PlanValue(value.into()))]);
        PlanSettings(BTreeMap::from([(plan.into(), settings)]))
    }

    #[rstest]
    #[case("gold", "services", "1", "plans.gold is not a plan; allowed: free, solo, team, business")]
    #[case(
        "team",
        "servces",
        "1",
        "plans.team.servces = \"1\" is not allowed; it must be a key of the plan table such as services or min_interval_seconds"
    )]
    #[case(
        "team",
        "services",
        "-1",
        "plans.team.services = \"-1\" is not allowed; it must be a whole number, or unlimited"
    )]
    #[case(
        "team",
        "retention_days",
        "0",
        "plans.team.retention_days = \"0\" is not allowed; it must be a whole number from 1"
    )]
    fn an_invalid_deviation_is_refused(
        #[case] plan: &str,
        #[case] key: &str,
        #[case] value: &str,
        #[case] text: &str,
    ) {
        assert_eq!(PlanTable::new(&deviation(plan, key, value)).unwrap_err().to_string(), text);
    }

    #[test]
    fn a_deviation_changes_one_number_of_one_plan() {
        let table = PlanTable::new(&deviation("team", "services", "unlimited")).unwrap();
        let limits = &table.plans.iter().find(|(plan, _)| *plan == Plan::Team).unwrap().1;
        assert_eq!(*limits, PlanLimits { services: None, ..Plan::Team.default_limits() });
    }
}
