//! A session as JSON, for people and tools. Secrets are excluded.

use crate::kernel::Kernel;
use crate::page::object;
use crate::session::flight::InFlight;
use crate::session::{ProbeTurn, SessionState, Spoken};
use guard_plan::json::Json;
use guard_plan::plan::UnitId;
use guard_plan::{decimal, render, time};

fn number(units: i64) -> Json {
    Json::number(&decimal::format(units)).unwrap_or(Json::Null)
}

fn count(count: u64) -> Json {
    Json::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

fn spoken_json(spoken: &Spoken<'_>) -> Json {
    object(vec![
        ("times", count(spoken.times)),
        ("time", Json::String(time::format_rfc3339(spoken.time).into())),
        ("judged", count(spoken.judged)),
        ("text", Json::string(spoken.text)),
    ])
}

impl SessionState {
    /// Returns the state, budgets, history and calls in flight.
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
        let mut members = vec![
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
        ];
        self.parts_json(kernel, &mut members);
        object(members)
    }

    /// Adds the parts that only some guards have: feedback, items, probes, origins, a completion.
    /// The parts contain only counts and last messages, because items have pages of their own.
    fn parts_json(&self, kernel: &Kernel, members: &mut Vec<(&str, Json)>) {
        let plan = kernel.plan();
        if !plan.feedback.is_empty() {
            let spoken = (0..).zip(&plan.feedback).filter_map(|(id, feedback)| {
                let spoken = self.feedback.spoken(id)?;
                Some((feedback.name.as_str(), spoken_json(&spoken)))
            });
            let spoken = object(spoken.collect());
            let judged = count(self.feedback.judged);
            members.push(("feedback", object(vec![("judged", judged), ("spoken", spoken)])));
        }
        if !plan.lifecycles.is_empty() {
            let lifecycles = plan.lifecycles.iter().zip(&self.items).map(|(lifecycle, table)| {
                let states = (0..).zip(&lifecycle.states);
                let states =
                    states.map(|(id, name)| (name.as_str(), count(table.count(id) as u64)));
                (lifecycle.name.as_str(), object(states.collect()))
            });
            members.push(("items", object(lifecycles.collect())));
        }
        if !plan.probes.is_empty() {
            let probes = plan.probes.iter().zip(&self.probes).map(|(probe, attempts)| {
                let next = match attempts.turn(probe, self.now) {
                    ProbeTurn::Now => Json::string("now"),
                    ProbeTurn::At(next) => Json::String(time::format_rfc3339(next).into()),
                    ProbeTurn::Never => Json::Null,
                };
                let answered = attempts.answer().map(|answer| match answer {
                    Ok(value) => {
                        Json::String(render::value(&plan.types, probe.returns, value).into())
                    }
                    Err(fault) => Json::String(format!("({fault})").into()),
                });
                let members = vec![("answer", answered.unwrap_or(Json::Null)), ("next", next)];
                (probe.name.as_str(), object(members))
            });
            members.push(("probes", object(probes.collect())));
        }
        if plan.origins {
            let (seen, full) = self.origins.size();
            let origins = vec![("seen", count(seen as u64)), ("full", Json::Bool(full))];
            members.push(("origins", object(origins)));
        }
        if plan.confidential {
            let (bytes, full) = self.private.size();
            let private = vec![("bytes", count(bytes as u64)), ("full", Json::Bool(full))];
            members.push(("private", object(private)));
        }
        if plan.completion.is_some() {
            members.push(("stops_blocked", count(self.blocked.into())));
        }
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
        let mut flights: Vec<&InFlight> = self.flights.iter().map(|flight| &**flight).collect();
        flights.sort_by_key(|flight| flight.number);
        let flight = |flight: &&InFlight| {
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
