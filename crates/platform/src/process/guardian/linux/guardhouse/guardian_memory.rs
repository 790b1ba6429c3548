//! The memory of one guardian in the guardhouse: two stacks, start parameters, and the strings for `execve`.
//!
//! ```text
//! guard page │ stack of the server, until execve │ guard page │ stack of the guardian │ entry, parameters,
//! pointers, strings
//! ```
//!
//! Guardhouse, guardian and the server before its `execve` share this memory. The guardhouse writes the start
//! parameters before the guardian starts, and the guardian completes them before the server does; the entry
//! belongs to the guardhouse.
#![expect(unsafe_code, reason = "memory that three processes share has no owner the language knows")]

use crate::process::guardian::linux::image::LaunchHeader;
use crate::process::guardian::linux::start_parameters::StartParameters;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use std::ffi::{c_char, c_void};
use std::os::fd::RawFd;
use std::ptr::{self, NonNull};

/// A multiple of every page size that Linux supports.
const BLOCK: usize = 64 * 1024;
const SERVER_STACK: usize = BLOCK;
/// Stack size of a guardian; the list of descendants and the buffer for reading `/proc` take 24 KiB of it.
const GUARDIAN_STACK: usize = 2 * BLOCK;
/// Offset of the end of the server's stack.
const SERVER_TOP: usize = BLOCK + SERVER_STACK;
/// Offset of the end of the guardian's stack, where the record begins.
const GUARDIAN_TOP: usize = SERVER_TOP + BLOCK + GUARDIAN_STACK;

/// The guardhouse's bookkeeping for one guardian, a node of a linked list.
#[derive(Debug)]
struct GuardianEntry {
    next: Option<GuardianMemory>,
    guardian: i32,
    link: RawFd,
    length: usize,
}

/// The memory of one guardian; a copyable handle without `Drop`, because the processes that use it have no
/// common owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuardianMemory(NonNull<u8>);

/// The bookkeeping entry and the start parameters, as they lie in memory.
#[repr(C)]
struct GuardianRecord {
    entry: GuardianEntry,
    parameters: StartParameters,
}

impl GuardianMemory {
    /// Maps memory for a launch image of this size.
    pub(super) fn new(head: LaunchHeader) -> Result<Self, Errno> {
        let length = GUARDIAN_TOP
            .checked_add(size_of::<GuardianRecord>())
            .and_then(|length| {
                length.checked_add(pointer_count(head)?.checked_mul(size_of::<*const c_char>())?)
            })
            .and_then(|length| length.checked_add(usize::try_from(head.length).ok()?))
            .ok_or(Errno::NOMEM)?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: new memory, at an address that the system chooses.
        let base = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), length, access, flags) }?;
        let cell = Self(NonNull::new(base.cast()).ok_or(Errno::NOMEM)?);
        cell.protect_block(0)?;
        cell.protect_block(SERVER_TOP)?;
        // SAFETY: inside the new memory, which is aligned to a page.
        unsafe { cell.entry_pointer().write(GuardianEntry { next: None, guardian: 0, link: -1, length }) };
        Ok(cell)
    }

    /// Makes a block inaccessible (guard page), so that a stack overflow ends its process.
    fn protect_block(self, at: usize) -> Result<(), Errno> {
        // SAFETY: a block of this memory that is not in use.
        unsafe { rustix::mm::mprotect(self.pointer_at(at).cast(), BLOCK, MprotectFlags::empty()) }
    }

    /// The upper end of the guardian's stack, which grows downwards.
    pub(super) fn guardian_stack(self) -> *mut c_void {
        self.pointer_at(GUARDIAN_TOP).cast()
    }

    /// The buffer for the strings of an image with this header.
    ///
    /// # Safety
    /// While the slice lives, no other code may use this memory, and `head` is the one it was mapped for.
    pub(super) unsafe fn string_buffer<'c>(self, head: LaunchHeader) -> &'c mut [u8] {
        // SAFETY: the caller's promise; `new` has reserved the space, and new memory is zero.
        unsafe { std::slice::from_raw_parts_mut(self.string_pointer(head), head.length as usize) }
    }

    /// Writes the start parameters with pointers to the strings, which have been received before.
    ///
    /// # Safety
    /// No other process may use this memory yet, and `head` is the one it was mapped for.
    pub(super) unsafe fn write_parameters(
        self,
        head: LaunchHeader,
        mut note: StartParameters,
    ) -> Option<*mut StartParameters> {
        // SAFETY: the caller's promise.
        let mut strings =
            unsafe { self.string_buffer(head) }.split_inclusive(|&byte| byte == 0).map(<[u8]>::as_ptr);
        let mut slots = self.pointer_at(GUARDIAN_TOP + size_of::<GuardianRecord>()).cast::<*const c_char>();
        let mut list = |strings: &mut dyn Iterator<Item = *const u8>, count: u32| {
            let first = slots;
            for string in strings.take(count as usize).chain([ptr::null()]) {
                // SAFETY: `new` has reserved space for one pointer to every string and two null ones.
                unsafe {
                    slots.write(string.cast());
                    slots = slots.add(1);
                }
            }
            first.cast_const()
        };
        note.path = strings.next()?.cast();
        note.arguments = list(&mut strings, head.arguments);
        note.variables = list(&mut strings, head.variables);
        note.directory = strings.next().map_or(ptr::null(), <*const u8>::cast);
        note.server_stack = self.pointer_at(SERVER_TOP).cast();
        let place = self.parameters_pointer();
        // SAFETY: inside the memory and aligned.
        unsafe { place.write(note) };
        Some(place)
    }

    /// Unmaps the memory.
    ///
    /// # Safety
    /// Every process that used the memory has ended or called `execve`.
    pub(super) unsafe fn unmap_memory(self) {
        // SAFETY: the entry was written by `new`; the caller promises that the memory is unused. An error
        // would leave the memory mapped.
        unsafe { rustix::mm::munmap(self.0.as_ptr().cast(), (*self.entry_pointer()).length) }
            .unwrap_or_default();
    }

    fn pointer_at(self, offset: usize) -> *mut u8 {
        self.0.as_ptr().wrapping_add(offset)
    }

    fn entry_pointer(self) -> *mut GuardianEntry {
        self.pointer_at(GUARDIAN_TOP + std::mem::offset_of!(GuardianRecord, entry)).cast()
    }

    fn parameters_pointer(self) -> *mut StartParameters {
        self.pointer_at(GUARDIAN_TOP + std::mem::offset_of!(GuardianRecord, parameters)).cast()
    }

    fn string_pointer(self, head: LaunchHeader) -> *mut u8 {
        let pointers = pointer_count(head).unwrap_or_default().saturating_mul(size_of::<*const c_char>());
        self.pointer_at(GUARDIAN_TOP + size_of::<GuardianRecord>()).wrapping_add(pointers)
    }
}

/// The number of pointers: one to every argument and variable, and a null one behind each of the two lists.
fn pointer_count(head: LaunchHeader) -> Option<usize> {
    usize::try_from(head.arguments).ok()?.checked_add(usize::try_from(head.variables).ok()?)?.checked_add(2)
}

/// The list of guardians that have not ended yet.
#[derive(Debug, Default)]
pub(super) struct GuardianList(Option<GuardianMemory>);

impl GuardianList {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this is the process id of a guardian that has not ended yet.
    pub(super) fn contains(&self, guardian: i32) -> bool {
        let mut place = self.0;
        while let Some(cell) = place {
            // SAFETY: as in `add_guardian`.
            let entry = unsafe { &*cell.entry_pointer() };
            if entry.guardian == guardian {
                return true;
            }
            place = entry.next;
        }
        false
    }

    /// Adds a guardian's memory to the list until the guardian ends.
    pub(super) fn add_guardian(&mut self, cell: GuardianMemory, guardian: i32, link: RawFd) {
        // SAFETY: the entry was written by `new` and is used by this process alone.
        let entry = unsafe { &mut *cell.entry_pointer() };
        (entry.next, entry.guardian, entry.link) = (self.0, guardian, link);
        self.0 = Some(cell);
    }

    /// Removes a guardian that has ended; returns its memory and its link.
    pub(super) fn remove_guardian(&mut self, guardian: i32) -> Option<(GuardianMemory, RawFd)> {
        let mut place = &mut self.0;
        while let Some(cell) = *place {
            // SAFETY: as in `add_guardian`.
            let entry = unsafe { &mut *cell.entry_pointer() };
            if entry.guardian == guardian {
                *place = entry.next;
                return Some((cell, entry.link));
            }
            place = &mut entry.next;
        }
        None
    }
}
