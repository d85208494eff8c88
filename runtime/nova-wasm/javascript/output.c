/* Standard output and standard error behind one buffer.
 *
 * One buffer for both keeps the order in which a program wrote them. It is flushed when it is
 * full, when the program ends or waits, and by QuickJS's interrupt handler, which runs every
 * few thousand jumps: so a program that prints and then computes is seen, and what it printed
 * is kept when its time runs out.
 */
#include "nova_js.h"

#include <string.h>
#include <unistd.h>

#define CAPACITY (16 * 1024)

/* So many writes are not buffered at all: a program that prints little and then disappears in one
 * long operation of the engine, where no interrupt handler runs, has printed it. */
static unsigned unbuffered_writes = 200;

static char buffer[CAPACITY];
static size_t used;
static int buffered_fd = 1;

/* The host ends a run that writes past its limit, and its streams never fail otherwise: a
 * failed write has no reader left who could be told. */
static void write_fully(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written <= 0)
            return;
        bytes += written;
        length -= (size_t)written;
    }
}

void output_flush(void)
{
    size_t length = used;
    used = 0;
    if (length > 0)
        write_fully(buffered_fd, buffer, length);
}

void output_write(int fd, const char *bytes, size_t length)
{
    if (fd != buffered_fd || length > CAPACITY - used)
        output_flush();
    buffered_fd = fd;
    if (length > CAPACITY) {
        write_fully(fd, bytes, length);
        return;
    }
    memcpy(buffer + used, bytes, length);
    used += length;
    if (unbuffered_writes > 0) {
        unbuffered_writes--;
        output_flush();
    }
}
