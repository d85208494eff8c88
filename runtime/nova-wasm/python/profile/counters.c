/* The run-time part of clang's -fprofile-generate for a guest: compiler-rt's own needs files.
 *
 * The counters stay in memory, where the training host reads them (recipe/profile.py). Targets of
 * indirect calls are counted in a hash table of ours. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nova.h"

typedef struct {
    uint32_t record; /* address of the function's __llvm_profile_data */
    uint32_t site;   /* which of its indirect calls */
    uint32_t target; /* the function called, as its index in the table */
    uint32_t count;
} call_count;

enum { SLOTS = 1u << 17, PROBES = 64 };

static call_count call_counts[SLOTS];

extern char __start___llvm_prf_data[], __stop___llvm_prf_data[];
extern char __start___llvm_prf_cnts[], __stop___llvm_prf_cnts[];
extern char __start___llvm_prf_names[], __stop___llvm_prf_names[];

int __llvm_profile_runtime; /* instrumented objects refer to it */

void __llvm_profile_instrument_target(uint64_t target, void *record, uint32_t site) {
    if (!record) return;
    uint32_t key = (uint32_t)(uintptr_t)record, function = (uint32_t)target;
    uint32_t slot = key * 31 + site * 2654435761u + function * 40503u;
    for (int probe = 0; probe < PROBES; probe++, slot++) {
        call_count *entry = &call_counts[slot % SLOTS];
        if (!entry->record) *entry = (call_count){key, site, function, 0};
        if (entry->record == key && entry->site == site && entry->target == function) {
            entry->count++;
            return;
        }
    } /* no room: a profile without this call is still a profile */
}

/* Sizes of memcpy and the like: not used. */
void __llvm_profile_instrument_memop(uint64_t size, void *record, uint32_t site) {
    (void)size, (void)record, (void)site;
}

/* Start and end of: records, counters, names, call counts. */
NOVA_EXPORT(profile_address) uint32_t profile_address(uint32_t index) {
    const void *addresses[] = {
        __start___llvm_prf_data,  __stop___llvm_prf_data,  __start___llvm_prf_cnts,
        __stop___llvm_prf_cnts,   __start___llvm_prf_names, __stop___llvm_prf_names,
        call_counts,              call_counts + SLOTS,
    };
    return (uint32_t)(uintptr_t)addresses[index % 8];
}

NOVA_EXPORT(profile_reset) void profile_reset(void) {
    memset(__start___llvm_prf_cnts, 0,
           (size_t)(__stop___llvm_prf_cnts - __start___llvm_prf_cnts));
    memset(call_counts, 0, sizeof call_counts);
}
