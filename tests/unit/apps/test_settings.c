// SPDX-License-Identifier: Apache-2.0
/* The tables of options: what their rows and rules say of each other, and that the key of a resumed run
 * follows from them. With --rows it prints them for tests/judges/settings.sh, which gives every option
 * in every mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/cli/commands.h"
#include "apps/cli/json_output.h"
#include "apps/enhance/resume_key.h"

/* ---- rules ---------------------------------------------------------------------------------- */

static const option *find(const command *line, const char *name)
{
    for (size_t i = 0; i < line->option_count; i++)
        if (!strcmp(line->options[i].name, name))
            return &line->options[i];
    return NULL;
}

static unsigned all_modes(const command *line)
{
    unsigned modes = 0;
    for (unsigned m = 0; m < OPTION_MODES_MAX && line->modes[m]; m++)
        modes |= 1u << m;
    return modes;
}

static void test_rules_name_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < command_count; c++) {
        const command *line = commands[c];
        const unsigned modes = all_modes(line);
        assert_true(line->option_count <= OPTION_ROWS_MAX);
        for (size_t i = 0; i < line->option_count; i++)
            if (line->options[i].needs)
                assert_non_null(find(line, line->options[i].needs));
        for (size_t i = 0; i < line->rule_count; i++) {
            const option_rule *r = &line->rules[i];
            const option *o = find(line, r->option);
            assert_non_null(o);
            assert_ptr_equal(options_rule(line, o), r); /* there is no second one */
            assert_int_equal((r->only | r->never | r->idle) & ~modes, 0);
            assert_int_equal((r->only & r->never) | (r->never & r->idle), 0);
            assert_true((r->idle != 0) == (r->why != NULL));
        }
    }
}

/* ---- the key of a resumed run --------------------------------------------------------------- */

enum { VALUES = 1 << 16 }; /* more than a command's values take */

static char file[] = "/tmp/mona-settings-XXXXXX";

/* Gives a row a value other than none. */
static void set(void *values, const option *o)
{
    void *field = (char *)values + o->field;
    assert_true(o->field + sizeof(option_list) <= VALUES);
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_WHOLE:
        *(long *)field = 7;
        break;
    case OPTION_SIZE:
        *(mona_size *)field = (mona_size){7, 7};
        break;
    case OPTION_NUMBER:
    case OPTION_SHARE:
    case OPTION_TIME:
    case OPTION_DURATION:
        *(double *)field = 7;
        break;
    case OPTION_LIST:
    case OPTION_FILES:
        *(option_list *)field = (option_list){{file}, 1};
        break;
    case OPTION_STRING:
    case OPTION_CHOICE:
    case OPTION_FILE:
        *(const char **)field = file;
        break;
    }
}

static char *key_with(const option *o)
{
    const command *line = &command_enhance;
    option_set given = {0};
    pipeline_error error = {0};
    void *values = calloc(1, VALUES);
    assert_non_null(values);
    if (o) {
        set(values, o);
        given.has[o - line->options] = true;
    }
    char *key = resume_key(line, values, &given, &error);
    assert_non_null(key);
    free(values);
    return key;
}

static void test_key_has_what_changes_bytes(void **state)
{
    (void)state;
    char *plain = key_with(NULL);
    unsigned changing = 0;
    for (size_t i = 0; i < command_enhance.option_count; i++) {
        const option *o = &command_enhance.options[i];
        char *key = key_with(o);
        const bool counts = o->effect == CHANGES_BYTES && !o->written;
        if ((strcmp(key, plain) != 0) != counts)
            fail_msg("%s: the key is %s", o->name, key);
        changing += counts;
        free(key);
    }
    assert_true(changing > 40);
    free(plain);
}

static void put(const char *text)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The name of a file does not count, and its bytes do. */
static void test_key_has_bytes_of_files(void **state)
{
    (void)state;
    const option *input = find(&command_enhance, "--input");
    put("one");
    char *one = key_with(input);
    put("two");
    char *two = key_with(input);
    assert_string_not_equal(one, two);
    assert_null(strstr(one, file));
    free(one);
    free(two);
}

/* ---- for the judge -------------------------------------------------------------------------- */

static void add_modes(cJSON *row, const char *key, const command *line, unsigned modes)
{
    cJSON *list = cJSON_AddArrayToObject(row, key);
    for (unsigned m = 0; m < OPTION_MODES_MAX; m++)
        if (modes >> m & 1)
            cJSON_AddItemToArray(list, cJSON_CreateString(line->modes[m]));
}

static void add_row(cJSON *list, const command *line, const option *o)
{
    static const char *const kinds[] = {
        [OPTION_FLAG] = "flag",     [OPTION_STRING] = "string",     [OPTION_FILE] = "file",
        [OPTION_CHOICE] = "choice", [OPTION_WHOLE] = "whole",       [OPTION_NUMBER] = "number",
        [OPTION_SHARE] = "share",   [OPTION_SIZE] = "size",         [OPTION_TIME] = "time",
        [OPTION_LIST] = "list",     [OPTION_DURATION] = "duration", [OPTION_FILES] = "files"};
    const option_rule none = {0}, *rule = options_rule(line, o);
    cJSON *row = json_add_object(list);
    cJSON_AddStringToObject(row, "name", o->name);
    cJSON_AddStringToObject(row, "letter", o->letter ? o->letter : "");
    cJSON_AddStringToObject(row, "kind", kinds[o->kind]);
    cJSON_AddBoolToObject(row, "changes", o->effect == CHANGES_BYTES);
    cJSON_AddStringToObject(row, "argument", o->argument ? o->argument : "");
    cJSON_AddStringToObject(row, "needs", o->needs ? o->needs : "");
    rule = rule ? rule : &none;
    add_modes(row, "only", line, rule->only);
    add_modes(row, "never", line, rule->never);
    add_modes(row, "idle", line, rule->idle);
}

static int print_rows(void)
{
    cJSON *all = cJSON_CreateObject();
    for (size_t c = 0; c < command_count; c++) {
        cJSON *o = cJSON_AddObjectToObject(all, commands[c]->name);
        add_modes(o, "modes", commands[c], all_modes(commands[c]));
        cJSON *list = cJSON_AddArrayToObject(o, "options");
        for (size_t i = 0; i < commands[c]->option_count; i++)
            add_row(list, commands[c], &commands[c]->options[i]);
    }
    const int status = json_print(all);
    cJSON_Delete(all);
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--rows"))
        return print_rows();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_name_rows),
        cmocka_unit_test(test_key_has_what_changes_bytes),
        cmocka_unit_test(test_key_has_bytes_of_files),
    };
    const int fd = mkstemp(file);
    const int failed = fd < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    close(fd);
    unlink(file);
    return failed;
}
