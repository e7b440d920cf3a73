// SPDX-License-Identifier: Apache-2.0
/* tests/leaks.txt inside of each program that is sanitised: the command looks for leaks when it
 * ends, in its sandbox, which lets it read no such file. */
__asm__(".pushsection .rodata\nleaks:\n.incbin \"tests/leaks.txt\"\n.byte 0\n.popsection\n");
extern const char leaks[];

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return leaks;
}
