//! Signal handling. The commands of a guard lead their own process groups, which a Ctrl-C on the
//! terminal does not reach, so they are killed with this process.

#[cfg(unix)]
use std::sync::Arc;

/// Installs handlers: an interrupt, a termination request or a hang-up first kills all running
/// commands. Ignored signals, as under `nohup`, stay ignored. A hang-up may be reserved for another
/// purpose.
#[cfg(unix)]
pub fn end_commands_with_us(heeds_hang_up: bool) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    // Reaching the limit on a file's size must be an error of a write, not the end of the process.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let ignored = ignored();
    let heeded = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let heeded = heeded.filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let heeded = heeded.filter(|signal| heeds_hang_up || *signal != SIGHUP);
    // Without handlers the process ends as usual, and commands end by their time limits.
    let Ok(mut signals) = Signals::new(heeded) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            guard_hosts::end_commands();
            // The default action ends the process by the signal itself, so that a shell sees why.
            if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                std::process::exit(2);
            }
        }
    });
}

/// Runs a function at each hang-up, instead of ending.
#[cfg(unix)]
pub fn on_hang_up(act: impl Fn() + Send + 'static) {
    let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGHUP]) else {
        return;
    };
    std::thread::spawn(move || signals.forever().for_each(|_| act()));
}

/// Does nothing, because this system has no such signals.
#[cfg(not(unix))]
pub fn end_commands_with_us(_: bool) {}

/// Does nothing, because this system has no such signals.
#[cfg(not(unix))]
pub fn on_hang_up(_: impl Fn() + Send + 'static) {}

/// Returns the signals that the parent process has set to be ignored, one bit each, if the system
/// reports them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
