//! The template part of `bridge.h`.

use super::{RenderInput, Template};
use crate::ffi::{fence, Failure, PlBuffer, PlBytes, PlStatus};

#[repr(C)]
pub struct PlRender {
    messages: PlBytes,
    tools: PlBytes,
    extra: PlBytes,
    bos_token: PlBytes,
    eos_token: PlBytes,
    unix_time: i64,
    add_generation_prompt: u8,
}

impl PlRender {
    unsafe fn view(&self) -> Result<RenderInput<'_>, Failure> {
        Ok(RenderInput {
            messages: self.messages.as_str("messages")?,
            tools: self.tools.as_str("tools")?,
            extra: self.extra.as_str("variables")?,
            bos_token: self.bos_token.as_str("bos_token")?,
            eos_token: self.eos_token.as_str("eos_token")?,
            unix_time: self.unix_time,
            add_generation_prompt: self.add_generation_prompt != 0,
        })
    }
}

#[no_mangle]
pub unsafe extern "C" fn pl_template_compile(
    source: PlBytes,
    out: *mut *mut Template,
    error: *mut PlBuffer,
) -> PlStatus {
    fence(out, error, || {
        let template = Template::compile(source.as_str("source")?)?;
        Ok(Box::into_raw(Box::new(template)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn pl_template_free(compiled: *mut Template) {
    if !compiled.is_null() {
        drop(Box::from_raw(compiled));
    }
}

#[no_mangle]
pub unsafe extern "C" fn pl_template_render(
    compiled: *const Template,
    input: *const PlRender,
    out: *mut PlBuffer,
    error: *mut PlBuffer,
) -> PlStatus {
    fence(out, error, || {
        let text = (*compiled).render(&(*input).view()?)?;
        Ok(PlBuffer::new(text.into_bytes()))
    })
}
