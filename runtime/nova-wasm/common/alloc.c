/* malloc for a guest whose memory becomes a snapshot.
 *
 * Why our own: libc's allocator of this toolchain puts a 16-byte header before every block and
 * rounds sizes up to powers of two, which nearly doubles the image of an interpreter that has
 * its standard library loaded. The image must stay small to be mapped copy-on-write (README).
 *
 * Boundary tags, best fit by bins, one thread. Each block has an 8-byte header, of which the
 * first half lies in the block before it while that is in use (so the real cost is 4 bytes);
 * payloads are 16-byte aligned. Free blocks are coalesced at once and kept in bins: one size per
 * bin below 512 bytes, four bins per power of two above. The last free block, `top`, is in no
 * bin; it grows by memory.grow. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nova.h"

typedef struct block {
    uint32_t previous_size; /* valid only while the previous block is free */
    uint32_t head;          /* size | flags; the size is a multiple of 16 */
    struct block *next_free, *previous_free;
} block;

enum { IN_USE = 1, PREVIOUS_IN_USE = 2, FLAGS = 15 };
enum { HEADER = 8, MINIMUM = 32, PAGE = 65536, GROW_PAGES = 16 };
enum { SMALL_BINS = 32, BINS = SMALL_BINS + 4 * 23, SEARCH_LIMIT = 64 };
#define LARGEST 0x7fff0000u

extern unsigned char __heap_base;

static block *bin_first[BINS]; /* NULL when empty */
static uint32_t bin_used[(BINS + 31) / 32];
static block *top;
static uint32_t memory_end;

static uint32_t size_of(const block *b) { return b->head & ~(uint32_t)FLAGS; }
static block *after(block *b, uint32_t size) { return (block *)((char *)b + size); }
static block *next(block *b) { return after(b, size_of(b)); }
static void *payload(block *b) { return (char *)b + HEADER; }
static block *block_of(void *p) { return (block *)((char *)p - HEADER); }

static unsigned bin_of(uint32_t size) {
    if (size < 16 * SMALL_BINS) return size >> 4;
    unsigned log = 31 - (unsigned)__builtin_clz(size); /* 9 or more */
    return SMALL_BINS + (log - 9) * 4 + ((size >> (log - 2)) & 3);
}

static void bin_remove(block *b) {
    unsigned bin = bin_of(size_of(b));
    if (b->previous_free) b->previous_free->next_free = b->next_free;
    else bin_first[bin] = b->next_free;
    if (b->next_free) b->next_free->previous_free = b->previous_free;
    if (!bin_first[bin]) bin_used[bin >> 5] &= ~(1u << (bin & 31));
}

static void bin_insert(block *b) {
    unsigned bin = bin_of(size_of(b));
    b->previous_free = NULL;
    b->next_free = bin_first[bin];
    if (b->next_free) b->next_free->previous_free = b;
    bin_first[bin] = b;
    bin_used[bin >> 5] |= 1u << (bin & 31);
    next(b)->previous_size = size_of(b);
    next(b)->head &= ~(uint32_t)PREVIOUS_IN_USE;
}

static void start(void) {
    uint32_t first = (((uint32_t)(uintptr_t)&__heap_base + 15) & ~15u) + HEADER;
    top = (block *)(uintptr_t)first;
    memory_end = (uint32_t)__builtin_wasm_memory_size(0) * PAGE;
    top->head = ((memory_end - first - HEADER) & ~15u) | PREVIOUS_IN_USE;
}

/* Makes room for `size` more bytes at the top; false when the host gives no more memory. */
static int grow(uint32_t size) {
    uint32_t needed = (size + MINIMUM + PAGE - 1) / PAGE;
    uint32_t pages = needed < GROW_PAGES ? GROW_PAGES : needed;
    uint32_t before = (uint32_t)__builtin_wasm_memory_grow(0, pages);
    if (before == (uint32_t)-1) { /* near the limit the smaller step may still fit */
        pages = needed;
        before = (uint32_t)__builtin_wasm_memory_grow(0, pages);
        if (before == (uint32_t)-1) return 0;
    }
    if (before * PAGE != memory_end) __builtin_trap(); /* nobody else may grow the memory */
    memory_end += pages * PAGE;
    uint32_t size_now = (memory_end - (uint32_t)(uintptr_t)top - HEADER) & ~15u;
    top->head = size_now | (top->head & PREVIOUS_IN_USE);
    return 1;
}

/* A free block of at least this size, or NULL; large bins hold mixed sizes. */
static block *find(uint32_t size) {
    unsigned bin = bin_of(size);
    if (bin >= SMALL_BINS) {
        block *best = NULL;
        unsigned seen = 0;
        for (block *b = bin_first[bin]; b && seen < SEARCH_LIMIT; b = b->next_free, seen++)
            if (size_of(b) >= size && (!best || size_of(b) < size_of(best))) best = b;
        if (best) return best;
        bin++;
    }
    for (unsigned word = bin >> 5; word < sizeof bin_used / sizeof *bin_used; word++) {
        uint32_t bits = bin_used[word];
        if (word == bin >> 5) bits &= ~0u << (bin & 31);
        if (bits) return bin_first[(word << 5) + (unsigned)__builtin_ctz(bits)];
    }
    return NULL;
}

static void *take_from_top(uint32_t size) {
    if (size_of(top) < size + MINIMUM && !grow(size)) {
        errno = ENOMEM;
        return NULL;
    }
    block *b = top;
    uint32_t left = size_of(top) - size;
    b->head = size | IN_USE | (b->head & PREVIOUS_IN_USE);
    top = next(b);
    top->head = left | PREVIOUS_IN_USE;
    return payload(b);
}

static void *allocate(uint32_t size) {
    if (!top) start();
    block *b = find(size);
    if (!b) return take_from_top(size);
    bin_remove(b);
    uint32_t left = size_of(b) - size;
    if (left >= MINIMUM) {
        b->head = size | IN_USE | (b->head & PREVIOUS_IN_USE);
        block *rest = next(b);
        rest->head = left | PREVIOUS_IN_USE;
        bin_insert(rest);
    } else {
        b->head |= IN_USE;
        next(b)->head |= PREVIOUS_IN_USE;
    }
    return payload(b);
}

static void release(block *b) {
    if (!(b->head & PREVIOUS_IN_USE)) {
        block *previous = (block *)((char *)b - b->previous_size);
        bin_remove(previous);
        previous->head = (size_of(previous) + size_of(b)) | (previous->head & PREVIOUS_IN_USE);
        b = previous;
    }
    block *following = next(b);
    if (following == top) {
        b->head = (size_of(b) + size_of(top)) | (b->head & PREVIOUS_IN_USE);
        top = b;
        return;
    }
    uint32_t size = size_of(b);
    if (!(following->head & IN_USE)) {
        bin_remove(following);
        size += size_of(following);
    }
    b->head = size | (b->head & PREVIOUS_IN_USE);
    bin_insert(b);
}

/* The size of a block that holds `bytes`; 0 when there can be none. */
static uint32_t block_size(size_t bytes) {
    if (bytes > LARGEST) {
        errno = ENOMEM;
        return 0;
    }
    uint32_t size = ((uint32_t)bytes + 4 + 15) & ~15u;
    return size < MINIMUM ? MINIMUM : size;
}

void *malloc(size_t bytes) {
    uint32_t size = block_size(bytes);
    return size ? allocate(size) : NULL;
}

void free(void *p) {
    if (p) release(block_of(p));
}

void *calloc(size_t count, size_t each) {
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = malloc(bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

/* Gives back the end of a block in use, if that is worth a block. */
static void shrink(block *b, uint32_t size) {
    uint32_t left = size_of(b) - size;
    if (left < 2 * MINIMUM) return;
    b->head = size | IN_USE | (b->head & PREVIOUS_IN_USE);
    block *rest = next(b);
    rest->head = left | IN_USE | PREVIOUS_IN_USE;
    release(rest);
}

/* Makes a block larger where it is, into the free block or the top behind it. */
static int extend(block *b, uint32_t size) {
    uint32_t old = size_of(b);
    block *following = next(b);
    if (following == top) {
        if (size_of(top) + old < size + MINIMUM && !grow(size - old)) return 0;
        uint32_t left = size_of(top) + old - size;
        b->head = size | IN_USE | (b->head & PREVIOUS_IN_USE);
        top = next(b);
        top->head = left | PREVIOUS_IN_USE;
        return 1;
    }
    if ((following->head & IN_USE) || size_of(following) + old < size) return 0;
    bin_remove(following);
    uint32_t left = size_of(following) + old - size;
    if (left >= MINIMUM) {
        b->head = size | IN_USE | (b->head & PREVIOUS_IN_USE);
        block *rest = next(b);
        rest->head = left | PREVIOUS_IN_USE;
        bin_insert(rest);
    } else {
        b->head = (size + left) | IN_USE | (b->head & PREVIOUS_IN_USE);
        next(b)->head |= PREVIOUS_IN_USE;
    }
    return 1;
}

void *realloc(void *p, size_t bytes) {
    if (!p) return malloc(bytes);
    uint32_t size = block_size(bytes);
    if (!size) return NULL;
    block *b = block_of(p);
    uint32_t old = size_of(b);
    if (size <= old) {
        shrink(b, size);
        return p;
    }
    if (extend(b, size)) return p;
    void *moved = allocate(size);
    if (!moved) return NULL;
    memcpy(moved, p, old - 4);
    free(p);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    if (alignment <= 16) return malloc(bytes);
    if (bytes > LARGEST - alignment - MINIMUM) {
        errno = ENOMEM;
        return NULL;
    }
    char *p = malloc(bytes + alignment + MINIMUM);
    if (!p) return NULL;
    uint32_t address = (uint32_t)(uintptr_t)p;
    uint32_t aligned = (address + (uint32_t)alignment - 1) & ~((uint32_t)alignment - 1);
    if (aligned != address) { /* the part before becomes a block of its own */
        if (aligned - address < MINIMUM) aligned += (uint32_t)alignment;
        block *lead = block_of(p);
        uint32_t whole = size_of(lead), cut = aligned - address;
        lead->head = cut | IN_USE | (lead->head & PREVIOUS_IN_USE);
        next(lead)->head = (whole - cut) | IN_USE | PREVIOUS_IN_USE;
        p = payload(next(lead));
        release(lead);
    }
    return realloc(p, bytes);
}

int posix_memalign(void **result, size_t alignment, size_t bytes) {
    void *p = aligned_alloc(alignment, bytes);
    if (!p) return ENOMEM;
    *result = p;
    return 0;
}

void *memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

void *reallocarray(void *p, size_t count, size_t each) {
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

size_t malloc_usable_size(void *p) { return p ? size_of(block_of(p)) - 4 : 0; }

void nova_close_holes(void) {
    for (unsigned bin = 0; bin < BINS; bin++)
        for (block *b = bin_first[bin], *following; b; b = following) {
            following = b->next_free;
            if (size_of(b) >= PAGE) continue;
            bin_remove(b);
            memset(payload(b), 0, size_of(b) - HEADER);
            b->head |= IN_USE;
            next(b)->head |= PREVIOUS_IN_USE;
        }
}

void nova_clear_free_memory(void) {
    for (unsigned bin = 0; bin < BINS; bin++)
        for (block *b = bin_first[bin]; b; b = b->next_free)
            memset((char *)b + sizeof *b, 0, size_of(b) - sizeof *b);
    if (top) memset((char *)top + HEADER, 0, memory_end - (uint32_t)(uintptr_t)top - HEADER);
}
