// SPDX-License-Identifier: Apache-2.0
/* mona eval: the quality of a model's pictures by the protocols of published tables. The results
 * are collected as JSON, which is printed directly or as tables. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "apps/cli/commands.h"
#include "apps/cli/json_output.h"
#include "pipeline/job/model_source.h"
#include "pipeline/quality/quality.h"
#include "pipeline/stages/plane_roles.h"
#include "apps/cli/printable.h"
#include "apps/cli/table.h"
#include "pipeline/job/devices.h"

enum { MAX_SCALE = 4, MAX_SIGMA = 100, MAX_SIGMAS = 16, SSIM_SIDE = 11 };

/* Of the model's result, and of the baseline: bicubic, or the noisy input. */
typedef struct figures {
    double psnr, ssim, base_psnr, base_ssim;
} figures;

#define PROTOCOLS(FIRST, NEXT) FIRST(PROTOCOL_SR, "sr") NEXT(PROTOCOL_DENOISE, "denoise")
typedef enum protocol { PROTOCOL_NONE, WORDS_ENUM(PROTOCOLS) } protocol;

typedef struct eval_job {
    const char *model, *folder, *list;
    protocol protocol;
    option_list sigma_list;
    unsigned sigmas[MAX_SIGMAS];
    size_t sigma_count;
    option_computing computing;
    long scale;
    bool json, denoise;
    const named_model *named; /* NULL: bicubic itself */
    mona_config config;
    pipeline_error error;
} eval_job;

/* ---- options ------------------------------------------------------------------------------ */

static bool read_sigmas(eval_job *job)
{
    static const unsigned usual[] = {15, 25, 50};
    job->sigma_count = sizeof usual / sizeof *usual;
    memcpy(job->sigmas, usual, sizeof usual);
    if (!job->sigma_list.count)
        return true;
    job->sigma_count = job->sigma_list.count;
    for (size_t i = 0; i < job->sigma_count; i++) {
        char *end;
        const long sigma = i < MAX_SIGMAS ? strtol(job->sigma_list.items[i], &end, 10) : -1;
        if (sigma < 0 || sigma > MAX_SIGMA || end == job->sigma_list.items[i] || *end)
            return cli_misuse("--sigma: expected whole numbers from 0 to %d, at most %d of them, "
                              "found '%s'",
                              MAX_SIGMA, MAX_SIGMAS, job->sigma_list.items[i]);
        job->sigmas[i] = (unsigned)sigma;
    }
    return true;
}

/* Bits of its modes. */
enum { EVAL_SR = 1 << 0, EVAL_BICUBIC = 1 << 1 };

static unsigned modes_of(const eval_job *job, bool bicubic)
{
    return (job->denoise ? 0 : EVAL_SR) | (bicubic ? EVAL_BICUBIC : 0);
}

static bool check_options(eval_job *job, const option_set *given)
{
    const bool bicubic = !strcmp(job->model, "bicubic");
    if (!job->folder)
        return cli_misuse("expected a folder of images: --set DIR");
    if (!job->protocol)
        return cli_misuse("expected --protocol sr or --protocol denoise");
    job->denoise = job->protocol == PROTOCOL_DENOISE;
    if ((job->scale != 0) != (bicubic && !job->denoise))
        return cli_misuse("bicubic with --protocol sr needs --scale, and nothing else takes it");
    if (bicubic && job->denoise)
        return cli_misuse("bicubic does not denoise; name a model");
    return options_suit(&command_eval, given, modes_of(job, bicubic)) &&
           options_config(&job->computing, &job->config) && read_sigmas(job);
}

/* ---- one image ---------------------------------------------------------------------------- */

static bool out_of_memory(eval_job *job)
{
    return pipeline_fail(&job->error, "out of memory");
}

static bool compare(eval_job *job, figures *f, const real_plane *original, const real_plane *made,
                    const real_plane *base, uint32_t border)
{
    f->psnr = measure_psnr(made, original, border);
    f->base_psnr = measure_psnr(base, original, border);
    return (measure_ssim(made, original, border, &f->ssim) &&
            measure_ssim(base, original, border, &f->base_ssim)) ||
           out_of_memory(job);
}

static void round_to_8_bit(real_plane *p)
{
    for (size_t i = 0; i < (size_t)p->width * p->height; i++)
        p->values[i] = measure_to_8_bit(p->values[i]);
}

/* The size of original must be a multiple of the scale. */
static bool enlarge(eval_job *job, figures *f, const real_plane *original)
{
    const uint32_t scale = (uint32_t)job->scale, w = original->width, h = original->height;
    real_plane low = {0}, made = {0}, base = {0};
    bool done = (real_plane_open(&low, w / scale, h / scale) && real_plane_open(&made, w, h) &&
                 real_plane_open(&base, w, h) && measure_resize(&low, original) &&
                 measure_resize(&base, &low)) ||
                out_of_memory(job);
    if (done) {
        round_to_8_bit(&base);
        done = !job->named ||
               model_run(&made, &low, job->named, devices_or_host(job->computing.device),
                         &job->config, 0, &job->error);
        done = done && compare(job, f, original, job->named ? &made : &base, &base, scale);
    }
    real_plane_close(&low);
    real_plane_close(&made);
    real_plane_close(&base);
    return done;
}

static bool denoise(eval_job *job, figures *f, const real_plane *original, unsigned sigma,
                    uint64_t *random)
{
    real_plane made = {0}, noisy = {0};
    const size_t count = (size_t)original->width * original->height;
    bool done = (real_plane_open(&made, original->width, original->height) &&
                 real_plane_open(&noisy, original->width, original->height)) ||
                out_of_memory(job);
    if (done) {
        memcpy(noisy.values, original->values, count * sizeof *noisy.values);
        measure_add_noise(&noisy, sigma, random);
        done = model_run(&made, &noisy, job->named, devices_or_host(job->computing.device),
                         &job->config, sigma, &job->error) &&
               compare(job, f, original, &made, &noisy, 0);
    }
    real_plane_close(&made);
    real_plane_close(&noisy);
    return done;
}

static bool open_original(eval_job *job, real_plane *original, const char *path)
{
    const uint32_t multiple = job->denoise ? 1 : (uint32_t)job->scale;
    const uint32_t min = SSIM_SIDE + 2 * (job->denoise ? 0 : multiple);
    still image;
    if (!still_read(&image, path, &(still_wish){0}, &job->error))
        return false;
    still_make_shallow(&image);
    bool done = true;
    if (image.channels % 2 == 0)
        done = pipeline_fail(&job->error, "%s: expected an image without alpha", path);
    else if (image.width < min + multiple || image.height < min + multiple)
        done = pipeline_fail(&job->error, "%s: expected at least %u pixels a side, found %ux%u",
                             path, min + multiple, image.width, image.height);
    else
        done = real_plane_open(original, image.width / multiple * multiple,
                               image.height / multiple * multiple) ||
               out_of_memory(job);
    if (done)
        (job->denoise ? measure_grey : measure_luma)(original, &image);
    still_free(&image);
    return done;
}

/* ---- the images of a folder --------------------------------------------------------------- */

typedef struct image_set {
    const char *folder;
    char **names; /* sorted */
    size_t count;
} image_set;

/* Whether the name ends so before its suffix. */
static bool stem_ends_in(const char *name, const char *end)
{
    const char *dot = strrchr(name, '.');
    const size_t stem = dot ? (size_t)(dot - name) : strlen(name), tail = strlen(end);
    return stem >= tail && !memcmp(name + stem - tail, end, tail);
}

static bool add(image_set *set, const char *name)
{
    char **names = realloc(set->names, (set->count + 1) * sizeof *names);
    if (names)
        set->names = names;
    char *copy = names ? strdup(name) : NULL;
    if (!copy)
        return cli_fail(0, "out of memory");
    names[set->count++] = copy;
    return true;
}

static bool add_folder(image_set *set)
{
    DIR *folder = opendir(set->folder);
    bool good =
        folder || cli_fail(0, "%s: expected a folder of images: %s", set->folder, strerror(errno));
    const struct dirent *entry;
    while (good && (entry = readdir(folder)))
        if (still_can_write(entry->d_name)) /* it has the suffix of an image */
            good = add(set, entry->d_name);
    if (folder)
        closedir(folder);
    return good;
}

static bool add_listed(image_set *set, const char *list)
{
    FILE *file = fopen(list, "r");
    if (!file)
        return cli_fail(0, "%s: cannot be read: %s", list, strerror(errno));
    char line[512], path[4096];
    bool good = true;
    while (good && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        snprintf(path, sizeof path, "%s/%s", set->folder, line);
        if (line[0])
            good = access(path, R_OK) ? cli_fail(0, "%s: expected the image that %s names: %s",
                                                 path, list, strerror(errno))
                                      : add(set, line);
    }
    fclose(file);
    return good;
}

static bool has_pairs(const image_set *set)
{
    bool high = false, low = false;
    for (size_t i = 0; i < set->count; i++) {
        high = high || stem_ends_in(set->names[i], "HR");
        low = low || stem_ends_in(set->names[i], "LR");
    }
    return high && low;
}

static void keep_high(image_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (stem_ends_in(set->names[i], "HR"))
            set->names[kept++] = set->names[i];
        else
            free(set->names[i]);
    set->count = kept;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Collects the PNG and JPEG files of a folder; if there are pairs as in published sets, whose names
 * end in HR and LR, only those in HR. list: a text file with the names of the images to use, one a
 * line; or NULL. False: there are none, or a listed one is missing; one line was printed. A zeroed
 * or opened set may be closed. */
static bool image_set_open(image_set *set, const char *folder, const char *list)
{
    *set = (image_set){.folder = folder};
    if (!(list ? add_listed(set, list) : add_folder(set)))
        return false;
    if (has_pairs(set))
        keep_high(set);
    if (!set->count)
        return cli_fail(0, "%s: expected images (.png, .jpg, .jpeg), found none",
                        list ? list : folder);
    qsort(set->names, set->count, sizeof *set->names, by_name);
    return true;
}

static void image_set_close(image_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    *set = (image_set){0};
}

/* ---- the set ------------------------------------------------------------------------------ */

static double rounded(double value, double step)
{
    return isfinite(value) ? nearbyint(value / step) * step : value;
}

/* Adds a row of the result; sigma is for denoisers only. */
static void add_row(const eval_job *job, cJSON *rows, const char *image, unsigned sigma,
                    const figures *f)
{
    const char *base = job->denoise ? "noisy" : "bicubic";
    char psnr[32], ssim[32];
    cJSON *row = json_add_object(rows);
    snprintf(psnr, sizeof psnr, "%s_psnr", base);
    snprintf(ssim, sizeof ssim, "%s_ssim", base);
    cJSON_AddStringToObject(row, "image", image);
    if (job->denoise)
        cJSON_AddNumberToObject(row, "sigma", sigma);
    JSON_ADD(row, NUMBER("psnr", rounded(f->psnr, 0.001)), NUMBER("ssim", rounded(f->ssim, 0.0001)),
             NUMBER(psnr, rounded(f->base_psnr, 0.001)),
             NUMBER(ssim, rounded(f->base_ssim, 0.0001)));
}

static bool measure_image(eval_job *job, figures *f, const char *path, unsigned sigma,
                          uint64_t *random)
{
    real_plane original = {0};
    const bool done =
        open_original(job, &original, path) &&
        (job->denoise ? denoise(job, f, &original, sigma, random) : enlarge(job, f, &original));
    real_plane_close(&original);
    return done;
}

static bool measure_set(eval_job *job, const image_set *set, unsigned sigma, cJSON *rows,
                        cJSON *means)
{
    const bool terminal = isatty(STDERR_FILENO);
    figures sum = {0};
    uint64_t random = sigma;
    for (size_t i = 0; i < set->count; i++) {
        char path[4096];
        figures f;
        if (terminal) {
            fprintf(stderr, "\r  %zu/%zu ", i + 1, set->count);
            printable_put(stderr, set->names[i]);
            fputs("\033[K", stderr);
        }
        snprintf(path, sizeof path, "%s/%s", set->folder, set->names[i]);
        const bool done = measure_image(job, &f, path, sigma, &random);
        if (terminal)
            fputs("\r\033[K", stderr);
        if (!done)
            return cli_fail(0, "%s", job->error.text);
        add_row(job, rows, set->names[i], sigma, &f);
        sum.psnr += f.psnr / (double)set->count, sum.ssim += f.ssim / (double)set->count;
        sum.base_psnr += f.base_psnr / (double)set->count;
        sum.base_ssim += f.base_ssim / (double)set->count;
    }
    add_row(job, means, "mean", sigma, &sum);
    return true;
}

static bool measure_all(eval_job *job, cJSON *document)
{
    image_set set = {0};
    cJSON *rows = cJSON_AddArrayToObject(document, "images");
    cJSON *means = cJSON_AddArrayToObject(document, "means");
    bool done = image_set_open(&set, job->folder, job->list);
    for (size_t i = 0; done && i < (job->denoise ? job->sigma_count : 1); i++)
        done = measure_set(job, &set, job->sigmas[i], rows, means);
    image_set_close(&set);
    return done;
}

/* ---- output ------------------------------------------------------------------------------- */

static const char *protocol_name(const eval_job *job)
{
    return job->denoise ? "denoise" : "sr";
}

static void print_tables(const eval_job *job, const cJSON *document)
{
    static const char *const sr[] = {"image", "psnr", "ssim", "bicubic_psnr", "bicubic_ssim"};
    static const char *const denoising[] = {"image", "sigma",      "psnr",
                                            "ssim",  "noisy_psnr", "noisy_ssim"};
    const cJSON *images = json_get(document, "images");
    const cJSON *means = json_get(document, "means");
    printable_print(stdout, "%s, %s, %s", job->model, protocol_name(job), job->folder);
    if (!job->denoise)
        printf(", x%ld", job->scale);
    printf("; PSNR in dB\n");
    for (int i = 0; i < 2; i++)
        table_print(i ? means : images, job->denoise ? denoising : sr,
                    job->denoise ? sizeof denoising / sizeof *denoising : sizeof sr / sizeof *sr);
}

/* Checks that the model fits the protocol, and determines its scale. */
static bool check_model(eval_job *job)
{
    if (!job->named)
        return true;
    if (!job->denoise)
        job->scale = (long)model_scale(job->named, job->config.device, &job->error);
    const bool fits =
        job->denoise ? plane_roles_check_denoiser(job->named, &job->error) : job->scale != 0;
    return fits || cli_fail(0, "%s", job->error.text);
}

static int evaluate(eval_job *job)
{
    if (!check_model(job))
        return EXIT_FAILED;
    cJSON *document = cJSON_CreateObject();
    JSON_ADD(document, TEXT("model", job->model), TEXT("protocol", protocol_name(job)),
             TEXT("set", job->folder));
    if (!job->denoise)
        cJSON_AddNumberToObject(document, "scale", (double)job->scale);
    int status = measure_all(job, document) ? EXIT_SUCCESS : EXIT_FAILED;
    if (status == EXIT_SUCCESS && job->json)
        status = json_print(document);
    else if (status == EXIT_SUCCESS)
        print_tables(job, document);
    cJSON_Delete(document);
    return status;
}

static int run(void *values, const command_line *line)
{
    eval_job *job = values;
    job->model = line->operands[0];
    if (!check_options(job, &line->given))
        return EXIT_USAGE;
    if (!strcmp(job->model, "bicubic"))
        return evaluate(job);
    model_source source;
    int status = EXIT_FAILED;
    if (options_model(&source, job->model)) {
        job->named = &source.model;
        status = evaluate(job);
    }
    model_source_close(&source);
    return status;
}

/* ---- the command -------------------------------------------------------------------------- */

static const char measuring[] = "Measurement", running[] = "Running";

static const option options[] = {
    {"--set", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(eval_job, folder), "DIR", measuring,
     .help = "folder of the original images, PNG and JPEG; of pairs named HR and LR, only the HR "
             "images are used"},
    {"--list", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(eval_job, list), "FILE", measuring,
     .help = "file with the names of the images to use, one on each line"},
    {"--protocol", NULL, OPTION_CHOICE, CHANGES_BYTES, offsetof(eval_job, protocol),
     WORDS_TEXT(PROTOCOLS), measuring, .help = "super-resolution or denoising, as described above"},
    {"--scale", NULL, OPTION_WHOLE, CHANGES_BYTES, offsetof(eval_job, scale), "N", measuring,
     .help = "scale of bicubic: 2, 3 or 4", .minimum = 2, .maximum = MAX_SCALE},
    {"--sigma", NULL, OPTION_LIST, CHANGES_BYTES, offsetof(eval_job, sigma_list), "N", measuring,
     .help = "strength of the noise; can be given more than once (default 15, 25 and 50)"},
    OPTIONS_COMPUTING(offsetof(eval_job, computing), running),
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(eval_job, json), NULL, "Other",
     .help = "print JSON"},
};

/* Bicubic interpolation is computed here, without the engine. */
static const option_rule rules[] = {
    {"--sigma", .never = EVAL_SR},           {"--threads", .never = EVAL_BICUBIC},
    {"--device", .never = EVAL_BICUBIC},     {"--cpu", .never = EVAL_BICUBIC},
    {"--strip-rows", .never = EVAL_BICUBIC}, {"--tile-columns", .never = EVAL_BICUBIC},
};

const command command_eval = {
    .name = "eval",
    .summary = "measure the quality of a model's pictures",
    .run = run,
    .values = &(eval_job){0},
    .confined = CONFINED_AT_ONCE,
    .lists = true,
    .usage = "MODEL --set DIR --protocol sr|denoise [OPTION]...",
    .description =
        "Measures a model as shipped, a .mona file or a built-in one: PSNR and SSIM of each image "
        "and on average, next to those of bicubic interpolation or of the noisy input. With "
        "--protocol sr, each image is cut to a multiple of the scale, converted to BT.601 luma "
        "from 16 to 235 (grey images stay as they are) and rounded to 8 bits. This original is "
        "reduced as MATLAB's imresize does it (bicubic, with antialiasing), rounded to 8 bits and "
        "enlarged by the model; a border as wide as the scale is not measured. MODEL can be "
        "bicubic, with --scale: then imresize also enlarges, and the reduced image is not rounded, "
        "as in the published tables. With --protocol denoise, each image is converted to grey from "
        "0 to 255 (MATLAB's rgb2gray); Gaussian noise with a fixed seed is added, clipped and "
        "rounded to 8 bits, as cameras deliver it; the model is told its strength and gets neutral "
        "chroma; no border is left out. SSIM uses a Gaussian window of 11x11 with sigma 1.5, and K "
        "of 0.01 and 0.03.",
    .examples = "mona eval sr_x2_fast --set set5 --protocol sr\n"
                "mona eval bicubic --scale 3 --set set5 --protocol sr --json\n"
                "mona eval denoise_fast --set bsd100 --list cbsd68.txt --protocol denoise\n",
    .parts = {{OPTIONS(options), RULES(rules)}},
    .modes = {"--protocol sr", "bicubic"},
    .operands_min = 1,
    .operands_max = 1,
    .takes_model = true,
};
