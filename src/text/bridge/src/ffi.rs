//! What crosses the C boundary, and the fence that no panic crosses.

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PlBytes {
    data: *const u8,
    size: usize,
}

impl PlBytes {
    /// # Safety
    /// `data` must be readable for `size` bytes as long as the result is used.
    pub unsafe fn as_slice<'a>(self) -> &'a [u8] {
        slice_or_empty(self.data, self.size)
    }

    /// # Safety
    /// As `as_slice`.
    pub unsafe fn as_str<'a>(self, what: &str) -> Result<&'a str, Failure> {
        std::str::from_utf8(self.as_slice())
            .map_err(|e| Failure::bad_argument(format!("{what}: invalid UTF-8 at byte {}", e.valid_up_to())))
    }
}

/// # Safety
/// `data` must be readable for `size` elements as long as the result is used, or `size` be 0.
pub unsafe fn slice_or_empty<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 || data.is_null() {
        return &[];
    }
    std::slice::from_raw_parts(data, size)
}

#[repr(C)]
pub struct PlOwned<T> {
    data: *mut T,
    size: usize,
    capacity: usize,
}

pub type PlBuffer = PlOwned<u8>;
pub type PlIds = PlOwned<i32>;

impl<T> PlOwned<T> {
    pub fn new(values: Vec<T>) -> Self {
        let mut values = std::mem::ManuallyDrop::new(values);
        PlOwned { data: values.as_mut_ptr(), size: values.len(), capacity: values.capacity() }
    }

    unsafe fn free(self) {
        if !self.data.is_null() {
            drop(Vec::from_raw_parts(self.data, self.size, self.capacity));
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn pl_buffer_free(buffer: PlBuffer) {
    buffer.free();
}

#[no_mangle]
pub unsafe extern "C" fn pl_ids_free(ids: PlIds) {
    ids.free();
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlStatus {
    Ok = 0,
    BadArgument = 1,
    BadData = 2,
    Unsupported = 3,
    Template = 4,
    Internal = 5,
}

#[derive(Debug)]
pub struct Failure {
    pub status: PlStatus,
    pub message: String,
}

impl Failure {
    pub fn new(status: PlStatus, message: impl Into<String>) -> Self {
        Failure { status, message: message.into() }
    }

    pub fn bad_argument(message: impl Into<String>) -> Self {
        Self::new(PlStatus::BadArgument, message)
    }

    pub fn bad_data(message: impl Into<String>) -> Self {
        Self::new(PlStatus::BadData, message)
    }

    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(PlStatus::Unsupported, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(PlStatus::Internal, message)
    }
}

thread_local! {
    static FENCED: Cell<bool> = const { Cell::new(false) };
}

/// Panics behind the fence become errors, so their report on stderr is left out; all others keep theirs.
fn install_quiet_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !FENCED.with(Cell::get) {
                previous(info);
            }
        }));
    });
}

fn failure_of(payload: &(dyn std::any::Any + Send)) -> Failure {
    #[cfg(alloc_error_hook)]
    if payload.is::<crate::memory::LimitPassed>() {
        return Failure::new(PlStatus::Template, "takes too much memory");
    }
    Failure::internal(panic_text(payload))
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return text;
    }
    payload.downcast_ref::<String>().map_or("unknown panic", String::as_str)
}

/// Runs `body`, turning panics into failures.
pub fn catch<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    install_quiet_hook();
    let outer = FENCED.with(|fenced| fenced.replace(true));
    let result = catch_unwind(AssertUnwindSafe(body));
    FENCED.with(|fenced| fenced.set(outer));
    result.unwrap_or_else(|payload| Err(failure_of(payload.as_ref())))
}

/// Runs `body` behind the fence; stores its value in `out` or its text in `error`.
///
/// # Safety
/// `out` and `error` must be writable.
pub unsafe fn fence<T>(out: *mut T, error: *mut PlBuffer, body: impl FnOnce() -> Result<T, Failure>) -> PlStatus {
    match catch(body) {
        Ok(value) => {
            out.write(value);
            PlStatus::Ok
        }
        Err(failure) => {
            error.write(PlBuffer::new(failure.message.into_bytes()));
            failure.status
        }
    }
}
