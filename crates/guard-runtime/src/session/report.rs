//! A session as JSON, for people and tools. Secrets stay inside.

use super::Session;
use super::flight::Flight;
use crate::kernel::Kernel;
use guard_plan::json::Json;
use guard_plan::plan::UnitId;
use guard_plan::{decimal, render, time};

fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

fn number(units: i64) -> Json {
    Json::number(&decimal::format(units)).unwrap_or(Json::Null)
}

fn count(count: u64) -> Json {
    Json::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

impl Session {
    /// Its state, budgets, history and calls in flight.
    pub fn state_json(&self, kernel: &Kernel) -> Json {
        let plan = kernel.plan();
        let secret = &mut |_: &_| Json::string(render::SECRET);
        let state = plan.state.iter().zip(&self.state).map(|(var, value)| {
            let json = render::to_json_redacted(&plan.types, var.ty, value, secret);
            (var.name.as_str(), json)
        });
        let state = state.collect();
        let spent =
            (0..).zip(&plan.units).map(|(id, unit)| (&*unit.name, self.unit_json(kernel, id)));
        let tools = plan
            .tools
            .iter()
            .zip(&self.tools)
            .filter(|(_, history)| history.successes + history.failures > 0);
        let tools = tools.map(|(tool, history)| {
            let counts =
                vec![("succeeded", count(history.successes)), ("failed", count(history.failures))];
            (tool.name.as_str(), object(counts))
        });
        let facts = plan.facts.iter().zip(&self.facts);
        let facts = facts.map(|(fact, table)| (fact.name.as_str(), count(table.len() as u64)));
        object(vec![
            ("session", Json::string(&self.id)),
            ("guard", Json::string(&plan.guard)),
            ("now", Json::String(time::format_rfc3339(self.now).into())),
            ("workspace", Json::string(&self.workspace)),
            ("halted", self.halt_json()),
            ("state", object(state)),
            ("spent", object(spent.collect())),
            ("calls", object(tools.collect())),
            ("facts", object(facts.collect())),
            ("in_flight", self.flights_json(kernel)),
            ("approvals", self.approvals_json(kernel)),
        ])
    }

    fn halt_json(&self) -> Json {
        self.halted.as_ref().map_or(Json::Null, |halt| {
            object(vec![
                ("rule", Json::string(&halt.rule)),
                ("message", Json::string(&halt.message)),
                ("time", Json::String(time::format_rfc3339(halt.time).into())),
            ])
        })
    }

    fn unit_json(&self, kernel: &Kernel, id: UnitId) -> Json {
        let budget = kernel.plan().units[id as usize].budget;
        let spent = self.spent[id as usize];
        let left = budget.map(|budget| budget.saturating_sub(spent));
        object(vec![
            ("spent", number(spent)),
            ("budget", budget.map_or(Json::Null, number)),
            ("remaining", left.map_or(Json::Null, number)),
        ])
    }

    fn flights_json(&self, kernel: &Kernel) -> Json {
        let mut flights: Vec<&Flight> = self.flights.iter().map(|flight| &**flight).collect();
        flights.sort_by_key(|flight| flight.number);
        let flight = |flight: &&Flight| {
            let tool = flight.tool.map(|id| Json::string(&kernel.plan().tools[id as usize].name));
            object(vec![("call", Json::string(&flight.call)), ("tool", tool.unwrap_or(Json::Null))])
        };
        Json::Array(flights.iter().map(flight).collect())
    }

    fn approvals_json(&self, kernel: &Kernel) -> Json {
        let valid = self.approvals.iter().filter(|grant| grant.expires > self.now);
        let grant = valid.map(|grant| {
            object(vec![
                ("tool", Json::string(&kernel.plan().tools[grant.tool as usize].name)),
                ("role", Json::string(&grant.role)),
                ("by", Json::string(&grant.by)),
                ("expires", Json::String(time::format_rfc3339(grant.expires).into())),
            ])
        });
        Json::Array(grant.collect())
    }
}
