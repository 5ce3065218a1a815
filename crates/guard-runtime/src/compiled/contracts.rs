//! Contracts made ready for the checks that judge files by them (semantics §12).

use guard_contract::{Checker, Schemas};
use guard_plan::plan::{CheckKind, ContractId, Plan};
use std::collections::BTreeSet;
use std::fmt;

/// A contract by which checks judge files.
pub(crate) struct CompiledContract {
    pub contract: ContractId,
    /// None where no check asks for it; or why it cannot be made ready.
    pub checker: Result<Option<Checker>, String>,
}

impl fmt::Debug for CompiledContract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledContract").field("contract", &self.contract).finish_non_exhaustive()
    }
}

/// The contracts of a plan, made ready where a check asks for them.
pub(crate) fn compile(plan: &Plan, schemas: &dyn Schemas) -> Box<[CompiledContract]> {
    let attests = plan.attests.iter().flat_map(|attest| &attest.dimensions).map(|one| &one.checks);
    let checks = plan.completion.iter().map(|completion| &completion.checks).chain(attests);
    let asked: BTreeSet<ContractId> = checks
        .flat_map(|checks| &checks.0)
        .filter_map(|check| match check.kind {
            CheckKind::Conforms(_, contract) => Some(contract),
            _ => None,
        })
        .collect();
    let judge = |contract: ContractId| {
        let ready = || Checker::with_schemas(plan, contract as usize, schemas);
        let checker = asked.contains(&contract).then(ready).transpose();
        CompiledContract { contract, checker: checker.map_err(|why| why.to_string()) }
    };
    (0..plan.contracts.len() as ContractId).map(judge).collect()
}
