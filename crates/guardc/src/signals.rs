//! Signal handling: the commands of a guard lead their own process groups, which a Ctrl-C on the
//! terminal does not reach, so they are killed with this process.

/// Installs handlers: an interrupt, a termination request or a hang-up first kills all running
/// commands. Ignored signals, as under `nohup`, stay ignored.
#[cfg(unix)]
pub fn end_commands_with_us() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let ignored = ignored();
    let heeded = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let heeded = heeded.filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without handlers the process ends as usual, and commands end by their time limits.
    let Ok(mut signals) = Signals::new(heeded) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            guard_hosts::end_commands();
            if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                std::process::exit(2);
            }
        }
    });
}

/// This system has no such signals.
#[cfg(not(unix))]
pub fn end_commands_with_us() {}

/// Returns the signals that the parent process has set to be ignored, one bit each, if the system
/// reports them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
