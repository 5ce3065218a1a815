//! The world of a host: a workspace on disk, if any, and the answers of the host's own probes.

use crate::disk::Disk;
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Content, Ran};
use guard_runtime::World;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The outside world.
#[derive(Debug, Clone, Default)]
pub struct Host {
    disk: Option<Disk>,
    /// The host's last answers, by probe.
    pub probes: BTreeMap<String, Json>,
}

impl Host {
    /// Returns the world of an existing workspace. Without a workspace, questions about files,
    /// commands and git have no answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory does not exist or cannot be resolved.
    pub fn new(workspace: Option<&Path>) -> io::Result<Host> {
        Ok(Host { disk: workspace.map(Disk::new).transpose()?, probes: BTreeMap::new() })
    }
}

impl World for Host {
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

    fn text(&mut self, path: &str) -> Option<Content> {
        self.disk.as_mut()?.text(path)
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
