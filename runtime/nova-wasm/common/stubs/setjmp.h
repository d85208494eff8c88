/* For sources that include <setjmp.h> and do not use it: this libc has it only for engines with
 * WebAssembly exceptions, and refuses to compile otherwise. A use fails to link. */
#ifndef NOVA_STUB_SETJMP_H
#define NOVA_STUB_SETJMP_H

typedef int jmp_buf[1];
int setjmp(jmp_buf);
_Noreturn void longjmp(jmp_buf, int);

#endif
