//! The compiled contracts for the checks that validate files against them (semantics §12).

use guard_contract::{Checker, Schemas};
use guard_plan::plan::{CheckKind, ContractId, Plan};
use std::collections::BTreeSet;
use std::fmt;

/// A contract that checks validate files against.
pub(crate) struct CompiledContract {
    pub contract: ContractId,
    /// The checker; `None` if no check uses the contract, or the reason why it cannot be compiled.
    pub checker: Result<Option<Checker>, String>,
}

impl fmt::Debug for CompiledContract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledContract").field("contract", &self.contract).finish_non_exhaustive()
    }
}

/// Compiles the contracts of a plan that a check uses.
pub(crate) fn compile(plan: &Plan, schemas: &dyn Schemas) -> Box<[CompiledContract]> {
    let attests = plan
        .attests
        .iter()
        .flat_map(|attest| &attest.dimensions)
        .map(|dimension| &dimension.checks);
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
