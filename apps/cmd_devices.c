/* mona devices: what mona can compute on. */
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "commands.h"
#include "mona.h"

typedef struct arguments {
    bool json;
} arguments;

static void add_device(cJSON *list, const mona_device_properties *device)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", device->name);
    cJSON_AddStringToObject(entry, "description", device->description);
    cJSON_AddStringToObject(entry, "isa", device->isa);
    cJSON_AddNumberToObject(entry, "cores", device->cores);
    cJSON_AddNumberToObject(entry, "cache_bytes", (double)device->cache_bytes);
    cJSON_AddBoolToObject(entry, "unified_memory", device->unified_memory);
    cJSON_AddItemToArray(list, entry);
}

static int print_json(const cJSON *list)
{
    char *text = cJSON_Print(list);
    if (!text)
        return cli_fail(EXIT_FAILED, "out of memory");
    puts(text);
    free(text);
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
    arguments a = {0};
    const char *operands[1];
    options_result result = options_parse(&command_devices, &a, argc, argv, operands);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELP ? EXIT_SUCCESS : EXIT_USAGE;

    cJSON *list = cJSON_CreateArray();
    if (!a.json)
        printf("%-12s %-8s %6s %10s  %s\n", "NAME", "ISA", "CORES", "CACHE KiB", "DESCRIPTION");
    for (unsigned i = 0; i < mona_device_count(); i++) {
        mona_device_properties device;
        if (mona_device_query(mona_device_at(i), &device) != MONA_OK)
            continue;
        add_device(list, &device);
        if (!a.json)
            printf("%-12s %-8s %6u %10zu  %s\n", device.name, device.isa, device.cores,
                   device.cache_bytes / 1024, device.description);
    }
    int status = a.json ? print_json(list) : EXIT_SUCCESS;
    cJSON_Delete(list);
    return status;
}

static const option options[] = {
    {"--json", NULL, OPTION_FLAG, offsetof(arguments, json), NULL, "Other", .help = "print JSON"},
};

const command command_devices = {
    .name = "devices",
    .summary = "list what mona can compute on",
    .run = run,
    .usage = "[--json]",
    .description = "Lists the devices that answer.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};
