//! Chat templates: minijinja, set up to behave like the Jinja environment of Hugging Face transformers.

mod data;
mod errors;
mod ffi;
mod filters;
mod generation;
mod input;
mod methods;
mod numbers;
mod python;
mod time;
mod tojson;

use crate::ffi::{catch, Failure};
use crate::memory::with_limit;
use minijinja::Environment;
use std::io::{Error as IoError, Write};

pub use input::RenderInput;

/// Instructions one rendering may take; real prompts of a thousand messages take a tenth.
const FUEL: u64 = 5_000_000;
/// A template can nest half a million lists with that fuel, and dropping or comparing them recurses. The stack is only
/// address space until it is used.
const STACK_BYTES: usize = 512 << 20;
/// What compiling or rendering may hold at one time, on top of the stack: the largest output, its growing buffer and the
/// largest messages together take about half.
const MEMORY_BYTES_MAX: usize = 512 << 20;
/// Long flat chains of operators recurse in the compiler as deep as they are long, so the source is bounded too; real
/// templates have 30 kB.
const SOURCE_BYTES_MAX: usize = 256 << 10;
/// Nested macro calls and includes.
const RECURSION_MAX: usize = 200;
/// Largest text one rendering may give.
const OUTPUT_BYTES_MAX: usize = 64 << 20;

const NAME: &str = "chat_template";

pub struct Template {
    environment: Environment<'static>,
}

impl Template {
    pub fn compile(source: &str) -> Result<Self, Failure> {
        if source.len() > SOURCE_BYTES_MAX {
            let found = format!("has {} bytes, at most {} KiB are compiled", source.len(), SOURCE_BYTES_MAX >> 10);
            return Err(errors::failure(found));
        }
        on_large_stack(|| Self::compile_here(source))
    }

    fn compile_here(source: &str) -> Result<Self, Failure> {
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_debug(true);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(RECURSION_MAX);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_formatter(python::format);
        environment.set_unknown_method_callback(methods::call);
        filters::register(&mut environment);
        let source = generation::without_tags(source);
        environment.add_template_owned(NAME, source).map_err(|e| errors::describe(&e))?;
        Ok(Template { environment })
    }

    pub fn render(&self, input: &RenderInput) -> Result<String, Failure> {
        on_large_stack(|| self.render_here(input))
    }

    fn render_here(&self, input: &RenderInput) -> Result<String, Failure> {
        let context = input.context()?;
        let template = self.environment.get_template(NAME).map_err(|e| errors::describe(&e))?;
        let mut output = CappedOutput { bytes: Vec::new(), full: false };
        let result = template.render_captured_to(context, &mut output).map(|_| ());
        if output.full {
            return Err(errors::failure(format!("output passes {} MiB", OUTPUT_BYTES_MAX >> 20)));
        }
        result.map_err(|e| errors::describe(&e))?;
        String::from_utf8(output.bytes).map_err(|_| errors::failure("output is not UTF-8"))
    }
}

/// Runs on a thread of its own, for its stack, within the memory limit.
fn on_large_stack<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, || catch(|| with_limit(MEMORY_BYTES_MAX, work)));
        let thread = thread.map_err(|e| Failure::internal(format!("template thread: {e}")))?;
        thread.join().unwrap_or_else(|_| Err(Failure::internal("template thread panicked")))
    })
}

struct CappedOutput {
    bytes: Vec<u8>,
    full: bool,
}

impl Write for CappedOutput {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + part.len() > OUTPUT_BYTES_MAX {
            self.full = true;
            return Err(IoError::other("output limit"));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
