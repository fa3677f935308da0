//! A limit on what one thread may allocate, so that a hostile template ends in an error instead of taking the machine's
//! memory. An allocation beyond it fails; the hook of failed allocations then panics, up to the fence of `ffi`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// `LEFT` of a thread without a limit.
const UNLIMITED: isize = isize::MAX;

thread_local! {
    static LEFT: Cell<isize> = const { Cell::new(UNLIMITED) };
}

/// The panic of an allocation beyond the limit.
#[cfg(alloc_error_hook)]
pub struct LimitPassed;

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// Takes `bytes` from what is left, unless that is too little. Negative numbers give back.
fn take(bytes: isize) -> bool {
    let left = LEFT.get();
    if left == UNLIMITED {
        return true;
    }
    // Memory from before the limit may be given back too.
    let rest = left.saturating_sub(bytes).min(UNLIMITED - 1);
    if bytes > 0 && rest < 0 {
        return false;
    }
    LEFT.set(rest);
    true
}

// SAFETY: memory comes from the system's allocator; no method panics.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size() as isize) {
            return std::ptr::null_mut();
        }
        System.alloc(layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size() as isize) {
            return std::ptr::null_mut();
        }
        System.alloc_zeroed(layout)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        take(-(layout.size() as isize));
        System.dealloc(memory, layout);
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !take(size as isize - layout.size() as isize) {
            return std::ptr::null_mut();
        }
        System.realloc(memory, layout, size)
    }
}

/// Gives the thread its old limit back, panic or not.
struct Restore(isize);

impl Drop for Restore {
    fn drop(&mut self) {
        LEFT.set(self.0);
    }
}

/// Runs `body`, which panics with `LimitPassed` once it holds more than `bytes`.
pub fn with_limit<T>(bytes: usize, body: impl FnOnce() -> T) -> T {
    install_hook();
    let _restore = Restore(LEFT.replace(bytes as isize));
    body()
}

/// Without the hook, which is not stable yet, a failed allocation ends the process.
#[cfg(not(alloc_error_hook))]
fn install_hook() {}

#[cfg(alloc_error_hook)]
fn install_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::alloc::set_alloc_error_hook(|_| {
            // Unwinding needs memory of its own.
            if LEFT.replace(UNLIMITED) != UNLIMITED {
                std::panic::panic_any(LimitPassed);
            }
        });
    });
}
