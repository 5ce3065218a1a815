//! Helpers shared by the suites: how a case file becomes a printed outcome.
