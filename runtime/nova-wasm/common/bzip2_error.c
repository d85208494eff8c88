/* libbz2 calls this when it finds a fault of its own; with BZ_NO_STDIO it must be supplied. */
#include <stdlib.h>

void bz_internal_error(int code) {
    (void)code;
    abort();
}
