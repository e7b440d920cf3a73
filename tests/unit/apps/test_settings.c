// SPDX-License-Identifier: Apache-2.0
/* The tables of options: what their rows and rules say of each other, and that the key of a resumed
 * run follows from them. With --rows it prints them for tests/judges/settings.sh, which gives every
 * option in every mode. */
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
#include "pipeline/job/job.h"

enum { VALUES = 1 << 16 }; /* more than a command's values take */

/* ---- rules ---------------------------------------------------------------------------------- */

static bool has_row(const command *line, const char *name)
{
    option o;
    for (size_t i = 0; options_at(line, i, &o); i++)
        if (!strcmp(o.name, name))
            return true;
    return false;
}

static unsigned all_modes(const command *line)
{
    unsigned modes = 0;
    for (unsigned m = 0; m < OPTION_MODES_MAX && line->modes[m]; m++)
        modes |= 1u << m;
    return modes;
}

static void check_part(const command *line, const option_part *part)
{
    const unsigned modes = all_modes(line);
    for (size_t i = 0; i < part->rule_count; i++) {
        const option_rule *r = &part->rules[i];
        assert_true(has_row(line, r->option));
        assert_ptr_equal(option_rule_of(part->rules, part->rule_count, r->option), r);
        assert_int_equal((r->only | r->never | r->idle) & ~modes, 0);
        assert_int_equal((r->only & r->never) | (r->never & r->idle), 0);
        assert_true((r->idle != 0) == (r->why != NULL));
    }
}

/* One row, or several with " or " between them. */
static void check_needs(const command *line, const char *names)
{
    char text[128], *name = text, *next;
    snprintf(text, sizeof text, "%s", names);
    do {
        next = strstr(name, " or ");
        if (next)
            *next = 0;
        assert_true(has_row(line, name));
        name = next ? next + 4 : name;
    } while (next);
}

static void test_rules_name_rows(void **state)
{
    (void)state;
    for (size_t c = 0; c < command_count; c++) {
        const command *line = commands[c];
        option o;
        size_t count = 0;
        for (; options_at(line, count, &o); count++)
            if (o.needs)
                check_needs(line, o.needs);
        assert_true(count <= OPTION_ROWS_MAX);
        for (size_t p = 0; p < COMMAND_PARTS_MAX; p++)
            check_part(line, &line->parts[p]);
    }
}

/* Whose files it reads, and when it is confined to them, each command says. */
static void test_commands_say_when_they_are_confined(void **state)
{
    (void)state;
    for (size_t c = 0; c < command_count; c++) {
        assert_true(commands[c]->confined);
        assert_int_equal(has_row(commands[c], "--no-sandbox"),
                         commands[c]->confined != CONFINED_NEVER);
    }
}

/* A default is read without a message. */
static void test_defaults_are_valid(void **state)
{
    (void)state;
    static char values[VALUES];
    for (size_t c = 0; c < command_count; c++) {
        option o;
        for (size_t i = 0; options_at(commands[c], i, &o); i++) {
            pipeline_error error = {0};
            if (o.initial && !option_read(&o, values, o.initial, &error))
                fail_msg("%s", error.text);
        }
    }
}

static void check_words(const option *o)
{
    static char values[VALUES];
    char words[256], buffer[OPTION_TEXT];
    snprintf(words, sizeof words, "%s", o->argument);
    for (char *rest = words, *word; (word = strsep(&rest, "|"));) {
        pipeline_error error = {0};
        memset(values, 0, sizeof values);
        assert_true(option_read(o, values, word, &error));
        assert_string_equal(option_text(o, values, buffer), word);
        assert_false(option_read(o, values, "neither", &error));
    }
}

/* Each word is the place that it is read as, and nothing is a word's where there is no default. */
static void test_words_are_places(void **state)
{
    (void)state;
    static const char none[VALUES];
    unsigned choices = 0;
    for (size_t c = 0; c < command_count; c++) {
        option o;
        for (size_t i = 0; options_at(commands[c], i, &o); i++) {
            char buffer[OPTION_TEXT];
            if (o.kind == OPTION_CHOICE || o.kind == OPTION_SWITCH)
                check_words(&o), choices++;
            if (o.kind == OPTION_CHOICE)
                assert_int_equal(option_text(&o, none, buffer)[0] != 0, o.initial != NULL);
        }
    }
    assert_true(choices > 15);
}

/* Each field has its row, in its place. */
static void test_rows_are_complete(void **state)
{
    (void)state;
    for (job_field f = 0; f < JOB_ROWS; f++) {
        assert_non_null(job_rows[f].name);
        assert_non_null(job_rows[f].help);
        for (job_field g = 0; g < f; g++) {
            assert_string_not_equal(job_rows[f].name, job_rows[g].name);
            assert_true(job_rows[f].field != job_rows[g].field);
        }
    }
    for (size_t i = 0; i < JOB_RULES; i++)
        assert_non_null(job_rules[i].option);
}

/* What the command adds to a job and changes bytes is a mode in which nothing is resumed, or a
 * batch, whose runs are jobs of their own. */
static void test_key_is_of_the_job(void **state)
{
    (void)state;
    const unsigned batch = 1u << 6;
    const option_rule *resume = option_rule_of(job_rules, JOB_RULES, "--resume");
    option o;
    for (size_t i = 0; options_at(&command_enhance, i, &o); i++) {
        bool own = o.effect == CHANGES_BYTES;
        for (job_field f = 0; f < JOB_ROWS; f++)
            own = own && strcmp(o.name, job_rows[f].name) != 0;
        for (unsigned m = 0; own && m < OPTION_MODES_MAX && command_enhance.modes[m]; m++)
            if (!strcmp(command_enhance.modes[m], o.needs ? o.needs : o.name))
                own = !((resume->never | resume->idle | batch) >> m & 1);
        if (own)
            fail_msg("%s is missing in the key", o.name);
    }
}

/* ---- the key of a resumed run --------------------------------------------------------------- */

static char file[] = "/tmp/mona-settings-XXXXXX";

/* Gives a row a value other than none. */
static void set(void *values, const option *o)
{
    void *field = (char *)values + o->field;
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
    case OPTION_CHOICE:
        *(unsigned *)field = 1;
        break;
    case OPTION_SWITCH:
        *(bool *)field = true;
        break;
    case OPTION_STRING:
    case OPTION_FILE:
        *(const char **)field = file;
        break;
    }
}

static char *key_with(job_field field)
{
    job j = JOB_NONE;
    pipeline_error error = {0};
    if (field < JOB_ROWS) {
        set(&j, &job_rows[field]);
        j.given.has[field] = true;
    }
    char *key = resume_key(&j, &error);
    assert_non_null(key);
    return key;
}

static void test_key_has_what_changes_bytes(void **state)
{
    (void)state;
    char *plain = key_with(JOB_ROWS);
    unsigned changing = 0;
    for (job_field f = 0; f < JOB_ROWS; f++) {
        const option *o = &job_rows[f];
        char *key = key_with(f);
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
    put("one");
    char *one = key_with(JOB_INPUT);
    put("two");
    char *two = key_with(JOB_INPUT);
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

static void add_row(cJSON *list, const command *line, size_t i, const option *o)
{
    static const char *const kinds[] = {
        [OPTION_FLAG] = "flag",     [OPTION_STRING] = "string", [OPTION_FILE] = "file",
        [OPTION_CHOICE] = "choice", [OPTION_SWITCH] = "choice", [OPTION_WHOLE] = "whole",
        [OPTION_NUMBER] = "number", [OPTION_SHARE] = "share",   [OPTION_SIZE] = "size",
        [OPTION_TIME] = "time",     [OPTION_LIST] = "list",     [OPTION_DURATION] = "duration",
        [OPTION_FILES] = "files"};
    const option_rule none = {0}, *rule = options_rule(line, i);
    cJSON *row = json_add_object(list);
    cJSON_AddStringToObject(row, "name", o->name);
    cJSON_AddStringToObject(row, "letter", o->letter ? o->letter : "");
    cJSON_AddStringToObject(row, "kind", kinds[o->kind]);
    cJSON_AddBoolToObject(row, "changes", o->effect != KEEPS_BYTES);
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
        option row;
        for (size_t i = 0; options_at(commands[c], i, &row); i++)
            add_row(list, commands[c], i, &row);
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
        cmocka_unit_test(test_commands_say_when_they_are_confined),
        cmocka_unit_test(test_defaults_are_valid),
        cmocka_unit_test(test_words_are_places),
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_key_is_of_the_job),
        cmocka_unit_test(test_key_has_what_changes_bytes),
        cmocka_unit_test(test_key_has_bytes_of_files),
    };
    const int fd = mkstemp(file);
    const int failed = fd < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    close(fd);
    unlink(file);
    return failed;
}
