//! The retention policy: how long the checks of a service are kept, by the plan of its organisation.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use crate::model::plans::PlanTable;
use crate::model::service::ServiceKey;
use crate::store::history::segments::RetentionClass;
use crate::store::{Database, MainError, organisations, services};

/// The policy for how long checks are kept.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a process has one or two of them")]
pub enum RetentionPolicy {
    /// By the plan of each service's organisation.
    ByPlan {
        /// The database of services and organisations.
        main: Database,
        /// The limits of each plan; only `retention_days` is used.
        plans: PlanTable,
    },
    /// A fixed time for every service.
    Uniform(RetentionClass),
}

impl RetentionPolicy {
    /// Returns the main database; `None` for a uniform retention.
    pub(super) const fn main(&self) -> Option<&Database> {
        match self {
            Self::ByPlan { main, .. } => Some(main),
            Self::Uniform(_) => None,
        }
    }

    /// Returns the retention of these services; deleted services are absent.
    pub async fn of(&self, keys: &[ServiceKey]) -> Result<HashMap<ServiceKey, RetentionClass>, MainError> {
        let (main, plans) = match self {
            Self::ByPlan { main, plans } => (main.reader(), plans),
            Self::Uniform(retention) => return Ok(keys.iter().map(|key| (*key, *retention)).collect()),
        };
        let owners = services::owners(main, keys).await?;
        let organisations: BTreeSet<i64> = owners.iter().map(|(_, organisation)| *organisation).collect();
        let organisations = organisations::with_keys(main, organisations).await?;
        let classes: HashMap<i64, RetentionClass> = organisations
            .iter()
            .map(|organisation| {
                (organisation.key, RetentionClass::of_days(plans.limits(organisation).retention_days))
            })
            .collect();
        Ok(owners
            .into_iter()
            .filter_map(|(service, organisation)| Some((service, *classes.get(&organisation)?)))
            .collect())
    }
}

impl fmt::Debug for RetentionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByPlan { .. } => f.write_str("ByPlan"),
            Self::Uniform(retention) => f.debug_tuple("Uniform").field(retention).finish(),
        }
    }
}
