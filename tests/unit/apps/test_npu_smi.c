// SPDX-License-Identifier: Apache-2.0
/* What npu-smi prints: text of its form is read, anything else is unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "apps/devices/telemetry.h"

#define UNKNOWN ((npu_figures){-1, -1, -1, "unknown"})

static const char map[] = "\tNPU ID                         Chip ID                        Chip "
                          "Logic ID                  "
                          "Chip Name                     \n"
                          "\t2                              4                              -       "
                          "                       "
                          "Mcu                           \n"
                          "\t3                              0                              1       "
                          "                       "
                          "Ascend 310                    \n"
                          "\t3                              1                              0       "
                          "                       "
                          "Ascend 310                    \n";

static const char common[] = "\tNPU ID                         : 3\n"
                             "\tChip Count                     : 2\n"
                             "\n"
                             "\tChip ID                        : 0\n"
                             "\tMemory Usage Rate(%)           : 14\n"
                             "\tAicore Usage Rate(%)           : 99\n"
                             "\tTemperature(C)                 : 71\n"
                             "\tRated Power Dissipation(W)     : 12.8\n"
                             "\n"
                             "\tChip ID                        : 1\n"
                             "\tMemory Usage Rate(%)           : 15\n"
                             "\tAicore Usage Rate(%)           : 37\n"
                             "\tTemperature(C)                 : 52\n"
                             "\tRated Power Dissipation(W)     : 12.8\n"
                             "\n"
                             "\tChip Name                      : MCU\n"
                             "\tTemperature(C)                 : 45\n"
                             "\tPower Dissipation(W)           : 30.1\n";

static void the_first_chip_is_found(void **state)
{
    (void)state;
    unsigned card = 0, chip = 0;
    assert_true(npu_smi_parse_map(map, 0, &card, &chip));
    assert_int_equal(card, 3);
    assert_int_equal(chip, 1);
}

static void other_maps_have_no_chip(void **state)
{
    static const char *const texts[] = {
        "",
        "dcmi module initialize failed. ret is -8005\n",
        "\t3   1   0   Ascend 310\n", /* without the heading */
        "\tNPU ID   Chip ID   Chip Phy-ID   Chip Name\n\t3   1   0   Ascend 310\n",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n\t3   1   0\n",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n\t3   1   7   Ascend 310\n",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n\tx   1   0   Ascend 310\n",
    };
    unsigned card, chip;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(npu_smi_parse_map(texts[i], 0, &card, &chip));
}

static void figures_are_those_of_the_chip(void **state)
{
    (void)state;
    for (unsigned chip = 0; chip < 2; chip++) {
        npu_figures f = UNKNOWN;
        npu_smi_parse_common(common, chip, &f);
        assert_true(f.temperature_c == (chip ? 52 : 71));
        assert_true(f.utilisation == (chip ? 37.0 / 100 : 99.0 / 100));
        assert_true(f.power_w < 0); /* rated power, and that of the card, are others */
    }
    npu_figures f = UNKNOWN;
    npu_smi_parse_common(common, 2, &f);
    assert_true(f.temperature_c < 0 && f.utilisation < 0 && f.power_w < 0);
}

static void real_time_power_is_read(void **state)
{
    (void)state;
    npu_figures f = UNKNOWN;
    npu_smi_parse_common("\tChip ID : 0\n\tNPU Real-time Power(W) : 9.5\n", 0, &f);
    assert_true(f.power_w == 9.5);
}

static void malformed_values_are_unknown(void **state)
{
    static const char *const values[] = {"NA",   "",    "52 C", "-3", "201",
                                         "0x34", "1e2", "nan",  "5:2"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[128];
        npu_figures f = UNKNOWN;
        snprintf(text, sizeof text, "\tChip ID : 0\n\tTemperature(C) : %s\n", values[i]);
        npu_smi_parse_common(text, 0, &f);
        assert_true(f.temperature_c < 0);
    }
    npu_figures f = UNKNOWN;
    npu_smi_parse_common("\tChip ID : 0\n\tAicore Usage Rate(%) : 101\n\tTemperature (C) : 50\n"
                         "\tTemperature(C)\n\tTemperature(C) 50",
                         0, &f);
    assert_true(f.utilisation < 0 && f.temperature_c < 0);
}

static void health_is_one_of_four_words(void **state)
{
    static const struct {
        const char *text, *health;
    } cases[] = {
        {"\tHealth                         : OK\n", "ok"},
        {"\tHealth Status                  : Warning\n\tError Code : NA\n", "warning"},
        {"\tHealth                         : Alarm\r\n", "alarm"},
        {"\tHealth                         : Critical\n", "critical"},
        {"\tHealth                         : NA\n", "unknown"},
        {"\tHealth                         : OK.\n", "unknown"},
        {"Failed to query health\n", "unknown"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        npu_figures f = UNKNOWN;
        npu_smi_parse_health(cases[i].text, &f);
        assert_string_equal(f.health, cases[i].health);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_chip_is_found),
        cmocka_unit_test(other_maps_have_no_chip),
        cmocka_unit_test(figures_are_those_of_the_chip),
        cmocka_unit_test(real_time_power_is_read),
        cmocka_unit_test(malformed_values_are_unknown),
        cmocka_unit_test(health_is_one_of_four_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
