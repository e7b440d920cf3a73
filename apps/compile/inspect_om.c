// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "formats/om.h"
#include "apps/cli/options.h"
#include "apps/cli/table.h"
#include "apps/cli/json_output.h"

enum { MAX_BYTES = 1 << 30, MAX_ROWS = 4096, MAX_TEXT = 4096 };

/* Makes text printable, terminated and limited in length, as the file is untrusted. */
static cJSON *text_of(const char *text, size_t length)
{
    char copy[MAX_TEXT];
    const size_t kept = length < sizeof copy ? length : sizeof copy - 1;
    for (size_t i = 0; i < kept; i++)
        copy[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    copy[kept] = 0;
    return cJSON_CreateString(copy);
}

static cJSON *partitions_of(const om_file *om)
{
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < om->partition_count; i++) {
        const om_partition *p = &om->partitions[i];
        cJSON *row = json_add_object(list);
        JSON_ADD(row, TEXT("partition", om_partition_name(p->type)), NUMBER("type", p->type),
                 NUMBER("offset", (double)(p->data - om->bytes)), NUMBER("bytes", p->size));
    }
    return list;
}

static bool is_called(const om_attribute *a, const char *name)
{
    return a->name_length == strlen(name) && !memcmp(a->name, name, a->name_length);
}

static void add_attributes(cJSON *document, const om_file *om)
{
    cJSON *list = cJSON_AddArrayToObject(document, "attributes");
    om_attribute a;
    size_t at = 0;
    for (int i = 0; i < MAX_ROWS && om_next_attribute(om, &at, &a); i++) {
        cJSON *row = json_add_object(list);
        cJSON_AddItemToObject(row, "attribute", text_of(a.name, a.name_length));
        cJSON_AddItemToObject(row, "value",
                              a.text ? text_of(a.text, a.text_length)
                                     : cJSON_CreateNumber((double)a.number));
        if (a.text && is_called(&a, "soc_version"))
            cJSON_AddItemToObject(document, "soc_version", text_of(a.text, a.text_length));
        if (a.text && is_called(&a, "atc_cmdline"))
            cJSON_AddItemToObject(document, "command_line", text_of(a.text, a.text_length));
    }
}

static void add_kernels(cJSON *document, const om_file *om)
{
    cJSON *list = cJSON_AddArrayToObject(document, "kernels");
    om_kernel k;
    size_t at = 0;
    for (int i = 0; i < MAX_ROWS && om_next_kernel(om, &at, &k); i++) {
        char machine[16] = "not ELF";
        cJSON *row = json_add_object(list);
        if (k.machine)
            snprintf(machine, sizeof machine, "0x%04x", k.machine);
        cJSON_AddItemToObject(row, "kernel", text_of(k.name, k.name_length));
        JSON_ADD(row, NUMBER("bytes", k.bytes), TEXT("machine", machine));
    }
}

static cJSON *describe(const char *path, const om_file *om)
{
    cJSON *document = cJSON_CreateObject();
    char version[16];
    snprintf(version, sizeof version, "0x%08x", om->version);
    JSON_ADD(document, TEXT("file", path), TEXT("format", "om"));
    cJSON_AddItemToObject(document, "model", text_of(om->name, strlen(om->name)));
    JSON_ADD(document, TEXT("version", version), TRUTH("encrypted", om->encrypted));
    cJSON_AddItemToObject(document, "platform", text_of(om->platform, strlen(om->platform)));
    cJSON_AddNumberToObject(document, "bytes", (double)om->size);
    cJSON_AddItemToObject(document, "partitions", partitions_of(om));
    add_attributes(document, om);
    add_kernels(document, om);
    return document;
}

cJSON *inspect_om(const char *path)
{
    format_error error = {0};
    om_file om;
    uint8_t *bytes;
    size_t size;
    cJSON *document = NULL;
    if (!file_read(path, "an .om model", MAX_BYTES, &bytes, &size, &error)) {
        cli_fail(EXIT_FAILED, "%s", error.text);
        return NULL;
    }
    if (om_open(&om, bytes, size, &error))
        document = describe(path, &om);
    else
        cli_fail(EXIT_FAILED, "%s: %s", path, error.text);
    free(bytes);
    return document;
}

void inspect_om_print(const cJSON *document)
{
    static const char *const partition_keys[] = {"partition", "type", "offset", "bytes"};
    static const char *const attribute_keys[] = {"attribute", "value"};
    static const char *const kernel_keys[] = {"kernel", "bytes", "machine"};
    char text[5][256];
    const bool encrypted = cJSON_IsTrue(json_get(document, "encrypted"));
    printf("%s: .om model %s, version %s, for %s, %s bytes%s\n",
           table_cell(document, "file", text[0], sizeof text[0]),
           table_cell(document, "model", text[1], sizeof text[1]),
           table_cell(document, "version", text[2], sizeof text[2]),
           table_cell(document, "soc_version", text[3], sizeof text[3])[0] ? text[3]
                                                                           : "an unnamed chip",
           table_cell(document, "bytes", text[4], sizeof text[4]), encrypted ? ", encrypted" : "");
    table_print_member(document, "partitions", partition_keys, 4);
    table_print_member(document, "attributes", attribute_keys, 2);
    table_print_member(document, "kernels", kernel_keys, 3);
    if (json_get(document, "command_line"))
        printf("\nwarning: the file contains the command line it was compiled with, which may "
               "reveal folders and names from its author's machine: see atc_cmdline\n");
}
