/* What both guests share with the host and with each other. The contract is in ../README.md. */
#ifndef NOVA_H
#define NOVA_H

#include <stddef.h>
#include <stdint.h>

#define NOVA_EXPORT(name) __attribute__((export_name(#name), used, visibility("default")))
#define NOVA_IMPORT(name) __attribute__((import_module("nova"), import_name(#name)))

/* A brokered call. The result is the reply's length; above the capacity nothing was copied. */
NOVA_IMPORT(call)
extern uint32_t nova_host_call(const void *request, uint32_t length, void *reply, uint32_t capacity);

/* Copies the pending long reply, which must have exactly this length. */
NOVA_IMPORT(take) extern void nova_host_take(void *reply, uint32_t length);

/* Facts about the exception that ended the program, as JSON. */
NOVA_IMPORT(report) extern void nova_host_report(const void *json, uint32_t length);

/* localtime.c: the zone of this run. No bytes, or bytes that are not TZif, mean UTC. They are
 * copied. */
void nova_set_timezone(const uint8_t *tzif, size_t tzif_bytes);

/* alloc.c: gives up every free block below 64 KiB between those in use. What a run allocates then
 * lies together, on pages of its own, instead of in the gaps of pages that it would otherwise
 * share with the image; each page written is a copy that the run waits for. */
void nova_close_holes(void);

/* alloc.c: clears all free memory, so that a snapshot carries no stale bytes. */
void nova_clear_free_memory(void);

#endif
