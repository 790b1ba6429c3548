//! The memory of one guardian in the guardhouse: two stacks, what it must know, and the strings for `execve`.
//!
//! ```text
//! closed │ stack of the server, until it is executed │ closed │ stack of the guardian │ entry, note, pointers, strings
//! ```
//!
//! Guardhouse, guardian and the server before its `execve` share it. The note is written before the guardian starts,
//! and by the guardian before the server does; the entry belongs to the guardhouse alone.
#![expect(unsafe_code, reason = "memory that three processes share has no owner the language knows")]

use crate::process::image::Head;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};
use std::ffi::{c_char, c_void};
use std::os::fd::RawFd;
use std::ptr::{self, NonNull};

/// A multiple of every page size there is.
const BLOCK: usize = 64 * 1024;
const SERVER_STACK: usize = BLOCK;
/// The list of descendants and the buffer for reading `/proc` take 24 KiB of it.
const GUARDIAN_STACK: usize = 2 * BLOCK;
/// Where the stack of the server ends.
const SERVER_TOP: usize = BLOCK + SERVER_STACK;
/// Where the stack of the guardian ends, and what is written begins.
const GUARDIAN_TOP: usize = SERVER_TOP + BLOCK + GUARDIAN_STACK;

/// What a guardian must know; the same memory tells the server.
#[derive(Clone, Copy, Debug)]
pub(in crate::process) struct Note {
    pub(in crate::process) link: RawFd,
    pub(in crate::process) stdin: RawFd,
    pub(in crate::process) stdout: RawFd,
    pub(in crate::process) stderr: RawFd,
    /// The host's working directory, if the server's depends on it.
    pub(in crate::process) folder: Option<RawFd>,
    /// Readable when a child of the one who reads has changed.
    pub(in crate::process) signals: RawFd,
    /// Where the server tells why it was not executed.
    pub(in crate::process) failure: RawFd,
    /// The guardian, for the server to see whether it is still there.
    pub(in crate::process) guardian: i32,
    /// Where the server's stack begins; it grows downwards.
    pub(in crate::process) server_stack: *mut c_void,
    pub(in crate::process) path: *const c_char,
    pub(in crate::process) arguments: *const *const c_char,
    pub(in crate::process) variables: *const *const c_char,
    /// Null, if there is none.
    pub(in crate::process) directory: *const c_char,
}

/// What the guardhouse knows of a guardian.
#[derive(Debug)]
struct Entry {
    next: Option<Cell>,
    guardian: i32,
    link: RawFd,
    length: usize,
}

/// The memory of one guardian; a handle without an owner, as the processes in it end when they end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell(NonNull<u8>);

/// Everything from the entry on.
#[repr(C)]
struct Desktop {
    entry: Entry,
    note: Note,
}

impl Cell {
    /// Memory for an image of this size.
    pub(super) fn new(head: Head) -> Result<Self, Errno> {
        let length = GUARDIAN_TOP
            .checked_add(size_of::<Desktop>())
            .and_then(|length| length.checked_add(pointers(head)?.checked_mul(size_of::<*const c_char>())?))
            .and_then(|length| length.checked_add(usize::try_from(head.length).ok()?))
            .ok_or(Errno::NOMEM)?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: new memory, at an address that the system chooses.
        let base = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), length, access, flags) }?;
        let cell = Self(NonNull::new(base.cast()).ok_or(Errno::NOMEM)?);
        cell.close(0)?;
        cell.close(SERVER_TOP)?;
        // SAFETY: inside the new memory, which is aligned to a page.
        unsafe { cell.entry().write(Entry { next: None, guardian: 0, link: -1, length }) };
        Ok(cell)
    }

    /// Makes a block unusable, so that a stack that grows into it ends its process.
    fn close(self, at: usize) -> Result<(), Errno> {
        // SAFETY: a block of this memory that nobody uses.
        unsafe { rustix::mm::mprotect(self.at(at).cast(), BLOCK, MprotectFlags::empty()) }
    }

    /// Where the guardian's stack begins; it grows downwards.
    pub(super) fn guardian_stack(self) -> *mut c_void {
        self.at(GUARDIAN_TOP).cast()
    }

    /// The place for the strings of an image with this head.
    ///
    /// # Safety
    /// As long as the slice lives, nobody else may use this memory, and `head` is the one it was made for.
    pub(super) unsafe fn strings<'c>(self, head: Head) -> &'c mut [u8] {
        // SAFETY: the caller's promise; `new` has made room for it, and new memory is zero.
        unsafe { std::slice::from_raw_parts_mut(self.strings_at(head), head.length as usize) }
    }

    /// Finds the strings, which were written before, and writes the note.
    ///
    /// # Safety
    /// Nobody else may use this memory yet, and `head` is the one it was made for.
    pub(super) unsafe fn write(self, head: Head, mut note: Note) -> Option<*mut Note> {
        // SAFETY: the caller's promise.
        let mut strings =
            unsafe { self.strings(head) }.split_inclusive(|&byte| byte == 0).map(<[u8]>::as_ptr);
        let mut slots = self.at(GUARDIAN_TOP + size_of::<Desktop>()).cast::<*const c_char>();
        let mut list = |strings: &mut dyn Iterator<Item = *const u8>, count: u32| {
            let first = slots;
            for string in strings.take(count as usize).chain([ptr::null()]) {
                // SAFETY: `new` has made room for one pointer to every string and two null ones.
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
        note.server_stack = self.at(SERVER_TOP).cast();
        let place = self.note();
        // SAFETY: inside the memory and aligned.
        unsafe { place.write(note) };
        Some(place)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// Every process that used it has ended or been executed.
    pub(super) unsafe fn free(self) {
        // SAFETY: the entry was written by `new`; the caller promises that nobody uses the memory. An error would
        // leave it where it is.
        unsafe { rustix::mm::munmap(self.0.as_ptr().cast(), (*self.entry()).length) }.unwrap_or_default();
    }

    fn at(self, offset: usize) -> *mut u8 {
        self.0.as_ptr().wrapping_add(offset)
    }

    fn entry(self) -> *mut Entry {
        self.at(GUARDIAN_TOP + std::mem::offset_of!(Desktop, entry)).cast()
    }

    fn note(self) -> *mut Note {
        self.at(GUARDIAN_TOP + std::mem::offset_of!(Desktop, note)).cast()
    }

    fn strings_at(self, head: Head) -> *mut u8 {
        let pointers = pointers(head).unwrap_or_default().saturating_mul(size_of::<*const c_char>());
        self.at(GUARDIAN_TOP + size_of::<Desktop>()).wrapping_add(pointers)
    }
}

/// To every argument and variable, and a null one behind each of the two lists.
fn pointers(head: Head) -> Option<usize> {
    usize::try_from(head.arguments).ok()?.checked_add(usize::try_from(head.variables).ok()?)?.checked_add(2)
}

/// The guardians that have not ended yet.
#[derive(Debug, Default)]
pub(super) struct Cells(Option<Cell>);

impl Cells {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this is the process of a guardian that has not ended yet.
    pub(super) fn contains(&self, guardian: i32) -> bool {
        let mut place = self.0;
        while let Some(cell) = place {
            // SAFETY: as in `add`.
            let entry = unsafe { &*cell.entry() };
            if entry.guardian == guardian {
                return true;
            }
            place = entry.next;
        }
        false
    }

    /// Keeps a cell until its guardian ends.
    pub(super) fn add(&mut self, cell: Cell, guardian: i32, link: RawFd) {
        // SAFETY: the entry was written by `new` and is used by this process alone.
        let entry = unsafe { &mut *cell.entry() };
        (entry.next, entry.guardian, entry.link) = (self.0, guardian, link);
        self.0 = Some(cell);
    }

    /// Takes out the cell of a guardian that has ended, and its link.
    pub(super) fn remove(&mut self, guardian: i32) -> Option<(Cell, RawFd)> {
        let mut place = &mut self.0;
        while let Some(cell) = *place {
            // SAFETY: as in `add`.
            let entry = unsafe { &mut *cell.entry() };
            if entry.guardian == guardian {
                *place = entry.next;
                return Some((cell, entry.link));
            }
            place = &mut entry.next;
        }
        None
    }
}
