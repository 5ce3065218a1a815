//! The world of a served session: its workspace on disk, where it has one, and what the host answers for its probes.

use super::rpc::Error;
use crate::failure::reason;
use guard_hosts::Disk;
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::Ran;
use guard_runtime::World;
use std::collections::BTreeMap;
use std::path::Path;

/// What lies outside.
pub struct Outside {
    /// Without a workspace nobody can say anything of files and commands.
    disk: Option<Disk>,
    /// The last answers of the host, by probe.
    pub probes: BTreeMap<String, Json>,
}

impl Outside {
    /// The world of a workspace.
    pub fn new(workspace: Option<&Path>) -> Result<Outside, Error> {
        let open = |path: &Path| {
            Disk::new(path).map_err(|error| {
                let why = format!("cannot use `{}`: {}", path.display(), reason(&error));
                Error::failed("bad_workspace", why)
            })
        };
        Ok(Outside { disk: workspace.map(open).transpose()?, probes: BTreeMap::new() })
    }
}

impl World for Outside {
    fn exists(&mut self, path: &str) -> Option<bool> {
        self.disk.as_mut()?.exists(path)
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.probes.get(name).cloned()
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        self.disk.as_mut()?.file(path)
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        self.disk.as_mut()?.contains(path, text)
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        self.disk.as_mut()?.sha256(path)
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        self.disk.as_mut()?.run(command)
    }

    fn committed(&mut self) -> Option<bool> {
        self.disk.as_mut()?.committed()
    }
}
