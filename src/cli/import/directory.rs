//! The services that results belong to, found by id, by name, or by their name in another tool.

use std::collections::{HashMap, HashSet};

use anyhow::anyhow;

use crate::cli::name_lookup::find_organisation;
use crate::clock::{DAY_MS, Timestamp};
use crate::config::sources::ConfigError;
use crate::model::check::CheckType;
use crate::model::partition::PartitionSet;
use crate::model::plans::PlanTable;
use crate::model::service::{Service, ServiceKey};
use crate::store::services::definitions::{self, OwnedService};
use crate::store::{Database, organisations};

/// Services per page.
const PAGE: u64 = 1_000;

/// A service as an import needs it.
#[derive(Clone, Debug)]
pub(super) struct ImportService {
    pub(super) service: Service,
    /// Start of the retention of its results.
    pub(super) kept_since: Timestamp,
}

pub(super) struct ImportScope {
    /// Organisation; `None` = all.
    pub(super) organisation: Option<String>,
    /// Id or name in this installation, by the name in the other tool.
    pub(super) renamed: HashMap<String, String>,
}

/// The services that results can belong to.
#[derive(Debug, Default)]
pub(super) struct ServiceDirectory {
    known: Vec<ImportService>,
    by_id: HashMap<String, usize>,
    /// Service by name; `None` if several have the same name.
    by_name: HashMap<String, Option<usize>>,
    /// Id or name in this installation, by the name in the other tool.
    renamed: HashMap<String, String>,
}

impl ServiceDirectory {
    /// Reads the services of one or all organisations. Names are accepted only within a single organisation.
    ///
    /// # Errors
    /// When the database fails, or an organisation or service that was named does not exist.
    pub(super) async fn read(
        main: &Database,
        plans: &PlanTable,
        ImportScope { organisation, renamed }: ImportScope,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let mut wanted = organisations::list(main.reader()).await?;
        if let Some(named) = organisation {
            wanted = vec![find_organisation(&wanted, &named)?.clone()];
        }
        let days: HashMap<i64, u32> = wanted
            .iter()
            .map(|organisation| (organisation.key, plans.limits(organisation).retention_days))
            .collect();
        let has_names = wanted.len() == 1;
        let mut directory = Self { renamed, ..Self::default() };
        let mut after = ServiceKey::MIN;
        loop {
            let page = definitions::page(main.reader(), PartitionSet::ALL, after, PAGE).await?;
            let Some(last) = page.last else { break };
            after = last;
            for OwnedService { service, .. } in page.services {
                let Some(days) = days.get(&service.organisation) else { continue };
                directory.add(service, now.plus_ms(-i64::from(*days) * DAY_MS), has_names);
            }
        }
        directory.check_renamed()?;
        Ok(directory)
    }

    /// Returns the service that a line names.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong, and what is allowed.
    pub(super) fn find(&self, text: &str) -> Result<&ImportService, String> {
        let name = self.renamed.get(text).map_or(text, String::as_str);
        let index = match (self.by_id.get(name), self.by_name.get(name)) {
            (Some(index), _) | (None, Some(Some(index))) => *index,
            (None, Some(None)) => {
                return Err(format!("service: several are called '{name}'; use the id of one"));
            }
            (None, None) => {
                return Err(format!(
                    "service: there is no '{name}'; it must be the id of a service, its name (with --org where there are \
                    several organisations), or a name given by --service-map"
                ));
            }
        };
        let known = &self.known[index];
        match known.service.check_type {
            CheckType::Manual => Err(format!("service: '{name}' is manual; it has no results")),
            _ if known.service.settings.is_none() => {
                Err(format!("service: '{name}' is not configured; give it settings first"))
            }
            _ => Ok(known),
        }
    }

    /// Returns the service with this key; `None` if it does not belong to the chosen organisations.
    pub(super) fn get(&self, key: ServiceKey) -> Option<&ImportService> {
        let index = self.known.binary_search_by_key(&key, |known| known.service.key);
        index.ok().and_then(|index| self.known.get(index))
    }

    fn add(&mut self, service: Service, kept_since: Timestamp, with_name: bool) {
        let index = self.known.len();
        self.by_id.insert(service.id.to_string(), index);
        if with_name {
            let same = self.by_name.entry(service.name.clone());
            same.and_modify(|known| *known = None).or_insert(Some(index));
        }
        self.known.push(ImportService { service, kept_since });
    }

    fn check_renamed(&self) -> anyhow::Result<()> {
        let targets: HashSet<&String> = self.renamed.values().collect();
        for target in targets {
            let is_known = self.by_id.contains_key(target) || self.by_name.contains_key(target);
            if !is_known {
                let problem = format!("--service-map: there is no service '{target}'");
                return Err(anyhow!(ConfigError(problem)));
            }
        }
        Ok(())
    }
}
