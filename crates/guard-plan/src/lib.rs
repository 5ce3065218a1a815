//! Types that cross a process.
