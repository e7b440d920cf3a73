# SPDX-License-Identifier: Apache-2.0
# mona: make, make demo, make test, make install PREFIX=..., make clean, make help
#
# Variables: CC, BUILD (output folder), PREFIX, SANITIZE=1 (address and undefined-behaviour
# sanitisers), TESTS (what of check is run, see tests/run.sh), INPUT (a clip for make demo), V=1 (show
# commands).

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build
PREFIX ?= /usr/local
Q := $(if $(V),,@)

PACKAGES := pkg-config protobuf-c-compiler libprotobuf-c-dev libonnx-dev libstb-dev libcjson-dev \
            libavformat-dev libavcodec-dev libavutil-dev libavfilter-dev libswscale-dev
TEST_PACKAGES := libcmocka-dev ffmpeg python3
# make test-full, besides: what people look at is tested with what they look with; skipped without.
FULL_PACKAGES := $(TEST_PACKAGES) clang
LOOK_PACKAGES := man-db zsh chromium chromium-driver
# For the tests of other CPUs, which are skipped without them.
CROSS_PACKAGES := gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
CROSS_CC := aarch64-linux-gnu-gcc

WARN := -Wall -Wextra -Wpedantic -Werror
BASE := -std=c11 -O3 -g $(WARN) -ffp-contract=off -MMD -MP
ifdef SANITIZE
BASE += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
endif
# The engine and its kernels: freestanding, nothing of libc but the mem* four.
ENGINE_CFLAGS := $(BASE) -ffreestanding -fstack-usage -I. -Iengine
HOST_CFLAGS := $(BASE) -D_GNU_SOURCE -I. -Iengine -I$(BUILD)/gen
PKG = $(shell pkg-config --cflags $(1) 2>/dev/null)
LIBS = $(shell pkg-config --libs libavformat libavcodec libavutil libavfilter libswscale libprotobuf-c libcjson 2>/dev/null) \
       -pthread -lm

# ---- sources ----------------------------------------------------------------------------------
ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
ENGINE_SRC := $(wildcard $(addsuffix /*.c,engine/model engine/run engine/plan engine/model310 engine/cpu/c ops ops/*)) engine/port/posix.c
ifeq ($(ARCH),x86_64)
ENGINE_SRC += $(wildcard engine/cpu/x86/*.c)
else ifeq ($(ARCH),aarch64)
ENGINE_SRC += $(wildcard engine/cpu/arm/*.c)
endif
ENGINE_SRC := $(sort $(ENGINE_SRC))
FORMATS_SRC := $(wildcard formats/*.c formats/*/*.c formats/*/*/*.c)
PIPELINE_SRC := $(wildcard pipeline/*.c pipeline/*/*.c)
APP_SRC := $(filter-out apps/demo/% apps/firmware/%,$(wildcard apps/*/*.c apps/*/*/*.c))
MODELS := $(sort $(wildcard models/*.mona))

obj = $(patsubst %.c,$(BUILD)/%.o,$(1))
ENGINE_OBJ := $(call obj,$(ENGINE_SRC))
FORMATS_OBJ := $(call obj,$(FORMATS_SRC)) $(BUILD)/gen/onnx.pb-c.o
PIPELINE_OBJ := $(call obj,$(PIPELINE_SRC))
APP_OBJ := $(call obj,$(APP_SRC)) $(BUILD)/models/embedded.o

.PHONY: all demo test test-full check fuzz check-aarch64 check-cpus bench-peers bench-published deps test-deps test-full-deps install uninstall clean help
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/mona $(BUILD)/libmona.a

help:
	@echo 'make                 build/mona and build/libmona.a'
	@echo 'make demo            install what is missing, build, enhance a rendered clip, print figures'
	@echo 'make demo INPUT=F    the same on a file of yours'
	@echo 'make test            install what is missing, build, test what takes minutes'
	@echo 'make test-full       test everything: also clang, sanitisers, browsers, other CPUs, long runs'
	@echo 'make check           only the tests of this build (CC=, BUILD=, SANITIZE=1, TIER=short, TESTS= choose which)'
	@echo 'make check-aarch64   only the tests of the kernels for ARMv8-A, emulated'
	@echo 'make fuzz            readers and compiler on what libFuzzer thinks of, FUZZ_SECONDS=60 each'
	@echo 'make bench-peers     speed and memory beside ONNX Runtime (installs it, takes minutes)'
	@echo 'make bench-table     times of the models inside, as a table for README.md'
	@echo 'make bench-published modelled against published speeds of networks on the 310'
	@echo 'make install         into PREFIX ($(PREFIX)); DESTDIR is honoured'
	@echo 'make format-check    fail on files that clang-format 14 would change'
	@echo 'make clean           remove build and demo output'

# ---- what must be installed -------------------------------------------------------------------
# $(call need,PACKAGES): installs those missing, or says how and stops.
define need
	@missing=; for p in $(1); do \
	    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$p"; \
	done; \
	if [ -n "$$missing" ]; then \
	    if [ "$$(id -u)" = 0 ]; then \
	        apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	    else \
	        echo "mona needs these packages first; run:"; \
	        echo "  sudo apt-get install --no-install-recommends$$missing"; exit 1; \
	    fi; \
	fi
endef

deps:
	$(call need,$(PACKAGES))

test-deps:
	$(call need,$(PACKAGES) $(TEST_PACKAGES))

test-full-deps:
	$(call need,$(PACKAGES) $(FULL_PACKAGES))
	-$(call need,$(LOOK_PACKAGES))
	$(if $(filter x86_64,$(ARCH)),-$(call need,$(CROSS_PACKAGES)))

# ---- engine -----------------------------------------------------------------------------------
$(BUILD)/engine/cpu/x86/avx2.o: ENGINE_CFLAGS += -mavx2 -mfma -mf16c
$(BUILD)/engine/cpu/x86/avxvnni.o: ENGINE_CFLAGS += -mavx2 -mfma -mf16c -mavxvnni
$(BUILD)/engine/cpu/x86/avx512.o: ENGINE_CFLAGS += -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c
ifeq ($(ARCH),aarch64)
ENGINE_CFLAGS += -mno-outline-atomics# which would call the compiler's run-time library
endif
$(BUILD)/engine/cpu/arm/neon_dotprod.o: ENGINE_CFLAGS += -march=armv8.2-a+dotprod
$(BUILD)/engine/port/posix.o: ENGINE_CFLAGS := $(BASE) -D_GNU_SOURCE -I. -Iengine -pthread

$(BUILD)/engine/%.o: engine/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ENGINE_CFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/ops/%.o: ops/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ENGINE_CFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/libmona.a: $(ENGINE_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

# ---- formats, pipeline, command ---------------------------------------------------------------
$(BUILD)/gen/onnx.pb-c.c: /usr/include/onnx/onnx.proto
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(BUILD)/gen/onnx.pb-c.h: $(BUILD)/gen/onnx.pb-c.c
$(BUILD)/gen/onnx.pb-c.o: $(BUILD)/gen/onnx.pb-c.c
	$(Q)$(CC) $(filter-out $(WARN),$(HOST_CFLAGS)) $(CFLAGS) -c -o $@ $<

$(call obj,$(FORMATS_SRC) $(APP_SRC)): $(BUILD)/gen/onnx.pb-c.h
$(BUILD)/formats/%.o: formats/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(call PKG,libprotobuf-c libcjson) $(CFLAGS) -c -o $@ $<

$(BUILD)/pipeline/%.o: pipeline/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(call PKG,libavformat libavcodec libavutil libavfilter libswscale) $(CFLAGS) -c -o $@ $<

# stb's JPEG writer shifts bits out of an int on purpose.
$(BUILD)/pipeline/image/stills.o: HOST_CFLAGS += $(if $(SANITIZE),-fno-sanitize=shift)

# What a result of mona bench says of its build; written anew only when it changes.
.PHONY: always
$(BUILD)/gen/build_info.h: always
	@mkdir -p $(@D)
	@commit=$$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown); \
	[ "$$commit" = unknown ] || git diff --quiet HEAD 2>/dev/null || commit=$$commit-dirty; \
	flags=$$(printf '%s' '$(filter-out $(WARN) -MMD -MP -I%,$(ENGINE_CFLAGS) $(CFLAGS))' | sed 's/["\\]/\\&/g'); \
	printf '#define BUILD_COMMIT "%s"\n#define BUILD_FLAGS "%s"\n' "$$commit" "$$flags" > $@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/apps/bench/report/provenance.o: $(BUILD)/gen/build_info.h

$(BUILD)/apps/%.o: apps/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(call PKG,libavformat libavcodec libavutil libcjson) $(CFLAGS) -c -o $@ $<

$(BUILD)/apps/compare/report.o: apps/compare/report.html
$(BUILD)/apps/compile/compile_report.o: apps/compile/compile.html
$(BUILD)/apps/plot/page.o: apps/plot/page.css
$(BUILD)/apps/bench/report/bench_page.o: apps/bench/report/bench.html

# A line for every model the binary contains: all that lie in models.
$(BUILD)/gen/models.inc: always
	@mkdir -p $(@D)
	@printf 'MODEL(%s)\n' $(notdir $(MODELS:.mona=)) > $@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/models/embedded.o: models/embedded.c $(MODELS) $(BUILD)/gen/models.inc Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/mona: $(APP_OBJ) $(PIPELINE_OBJ) $(FORMATS_OBJ) $(BUILD)/libmona.a
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# ---- an example of a program that links the library alone ----------------------------------------
$(BUILD)/firmware: apps/firmware/main.c $(BUILD)/models/embedded.o $(BUILD)/libmona.a Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/models/embedded.o $(BUILD)/libmona.a -pthread

# The library without observers and the same program with it, for observe.sh: what stays must be the same code.
UNOBSERVED := $(BUILD)/unobserved
UNOBSERVED_SRC := $(wildcard engine/run/session*.c)
$(UNOBSERVED)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ENGINE_CFLAGS) -DMONA_NO_OBSERVER $(CFLAGS) -c -o $@ $<
$(UNOBSERVED)/libmona.a: $(filter-out $(call obj,$(UNOBSERVED_SRC)),$(ENGINE_OBJ)) $(UNOBSERVED_SRC:%.c=$(UNOBSERVED)/%.o)
	$(Q)rm -f $@ && ar rcs $@ $^
$(UNOBSERVED)/firmware: apps/firmware/main.c $(BUILD)/models/embedded.o $(UNOBSERVED)/libmona.a Makefile
	$(Q)$(CC) $(HOST_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/models/embedded.o $(UNOBSERVED)/libmona.a -pthread

# ---- demo -------------------------------------------------------------------------------------
$(BUILD)/scene: apps/demo/scene.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(CFLAGS) -o $@ $< -lm

demo: deps
	$(call need,ffmpeg)
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/scene
	$(Q)BUILD=$(BUILD) INPUT='$(INPUT)' sh apps/demo/demo.sh

# ---- tests ------------------------------------------------------------------------------------
UNIT := $(addprefix $(BUILD)/tests/,$(notdir $(basename $(wildcard tests/unit/*/test_*.c))))
vpath test_%.c $(wildcard tests/unit/*)
ifneq ($(ARCH),x86_64)
UNIT := $(filter-out $(BUILD)/tests/test_chain,$(UNIT))# what it tests is written for AVX-512
endif

$(BUILD)/tests/test_%: test_%.c $(PIPELINE_OBJ) $(FORMATS_OBJ) $(BUILD)/models/embedded.o $(BUILD)/libmona.a Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(call PKG,libprotobuf-c libcjson libavformat libavcodec libavutil) $(CFLAGS) $(LDFLAGS) -o $@ $< \
	    $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LIBS)
# Those that test parts of the command.
$(BUILD)/tests/test_statistics: $(addprefix $(BUILD)/apps/bench/,statistics.o significance.o)
$(BUILD)/tests/test_telemetry: $(addprefix $(BUILD)/apps/devices/,telemetry.o telemetry_log.o)
$(BUILD)/tests/test_fair_queue: $(BUILD)/apps/bench/fair_queue.o
$(BUILD)/tests/test_verdict $(BUILD)/tests/test_pipeline_marks $(BUILD)/tests/test_top1_margin: $(filter-out %/mona.o %/embedded.o,$(APP_OBJ))
# And what trains the networks.
TRAIN_OBJ := $(addprefix $(BUILD)/models/train/,chain.o products.o)
$(BUILD)/tests/test_chain: $(TRAIN_OBJ)
$(TRAIN_OBJ): $(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) -mavx512f -mavx512bw -mavx512vl -mavx512bf16 -mamx-tile -mamx-bf16 $(CFLAGS) -c -o $@ $<

$(BUILD)/tests/checkops: tests/checkops.c $(BUILD)/libmona.a Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libmona.a -pthread -lm

# Writes the network that changes nothing, for pictures.sh.
$(BUILD)/neutral: tests/e2e/media/neutral.c $(BUILD)/gen/onnx.pb-c.o Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(call PKG,libprotobuf-c) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/gen/onnx.pb-c.o \
	    $(shell pkg-config --libs libprotobuf-c 2>/dev/null)

# Writes classifiers of published shapes, for classifiers.sh.
$(BUILD)/classifiers: tests/e2e/models/classifiers.c tests/unit/classifiers.h tests/unit/quantised_nets.h tests/unit/onnx_builder.h $(BUILD)/gen/onnx.pb-c.o Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(call PKG,libprotobuf-c) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/gen/onnx.pb-c.o \
	    $(shell pkg-config --libs libprotobuf-c 2>/dev/null) -lm

# Fuzz targets: in every build on the files of their corpus, in make fuzz on what libFuzzer thinks of.
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_OBJ := $(FORMATS_OBJ) $(BUILD)/pipeline/stages/session_binding.o $(BUILD)/pipeline/error.o $(BUILD)/libmona.a
FUZZ_SECONDS ?= 60

$(BUILD)/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(FUZZ_OBJ) Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(FUZZ_OBJ) $(LIBS)
$(BUILD)/libfuzzer/%: tests/fuzz/fuzz_%.c $(FUZZ_OBJ) Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_OBJ) $(LIBS)

fuzz: deps
	$(call need,clang)
	$(Q)$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/fuzz SANITIZE=1 CFLAGS="-fsanitize=fuzzer-no-link -Wno-pass-failed -O1" \
	    $(addprefix $(BUILD)/fuzz/libfuzzer/,$(FUZZ))
	$(Q)BUILD=$(BUILD) SECONDS_EACH=$(FUZZ_SECONDS) sh tests/fuzz/fuzz.sh $(FUZZ)

# TIER: short or full (tests/tiers).
check: all $(BUILD)/scene $(BUILD)/neutral $(BUILD)/classifiers $(BUILD)/firmware $(BUILD)/unobserved/firmware $(UNIT) $(addprefix $(BUILD)/tests/fuzz_,$(FUZZ)) $(BUILD)/tests/checkops $(BUILD)/tests/published
	$(Q)BUILD=$(BUILD) CC='$(CC)' SANITIZE='$(SANITIZE)' TIER='$(TIER)' UNIT_TESTS='$(notdir $(UNIT))' sh tests/run.sh $(TESTS)

# The engine and its kernels on ARMv8-A, emulated; on such a machine itself `check` does more.
check-aarch64: $(BUILD)/firmware
	$(Q)if ! command -v $(CROSS_CC) > /dev/null || ! command -v qemu-aarch64-static > /dev/null; then \
	    echo '# skip: no $(CROSS_CC) or no qemu-aarch64-static'; echo '0 passed, 0 failed, 1 skipped'; \
	else \
	    $(MAKE) --no-print-directory CC=$(CROSS_CC) BUILD=$(BUILD)/aarch64 LDFLAGS=-static SANITIZE= \
	        $(BUILD)/aarch64/firmware $(BUILD)/aarch64/tests/checkops && \
	    BUILD=$(BUILD) SCRIPTS=tests/aarch64.sh sh tests/run.sh aarch64; \
	fi

# The plain build on CPUs that lack instructions which this one has.
check-cpus: all $(BUILD)/scene $(UNIT) $(BUILD)/tests/checkops
	$(Q)if [ '$(ARCH)' != x86_64 ] || ! command -v qemu-x86_64-static > /dev/null; then \
	    echo '# skip: no x86-64 or no qemu-x86_64-static'; echo '0 passed, 0 failed, 1 skipped'; \
	else BUILD=$(BUILD) SCRIPTS=tests/cpus.sh sh tests/run.sh cpus.sh; fi

# What must hold after every change, in minutes: the short tier, one build.
test: test-deps
	$(Q)$(MAKE) --no-print-directory -j"$$(nproc)" check TIER=short

# Everything: the full tier, with clang and sanitisers, browsers, other CPUs. The last line adds them up.
test-full: test-full-deps
	$(Q)sh tests/all.sh

# Side by side with ONNX Runtime, which npm installs into the build folder.
bench-peers: deps
	$(call need,python3 python3-onnx python3-numpy $(if $(shell command -v npm),,nodejs npm))
	@test -d ../shared/peers || { echo 'make bench-peers needs ../shared/peers'; exit 1; }
	$(Q)$(MAKE) --no-print-directory all
	@mkdir -p $(BUILD)/bench
	$(Q)test -d $(BUILD)/bench/node_modules/onnxruntime-node || npm install --prefix $(BUILD)/bench \
	    --ignore-scripts --no-audit --no-fund --silent onnxruntime-node
	$(Q)/usr/bin/python3 tests/bench/peers.py $(BUILD)

# The table of README.md: the models inside, timed on this machine.
.PHONY: bench-table
bench-table: all
	@/usr/bin/python3 tests/bench/table.py $(BUILD)

# Published speeds of networks on the 310 beside the time model's.
PUBLISHED_SRC := tests/bench/published.c $(wildcard tests/bench/published/*.c)
$(BUILD)/tests/published: $(PUBLISHED_SRC) tests/bench/published/published.h $(BUILD)/formats/file.o $(BUILD)/formats/error.o $(BUILD)/libmona.a Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(HOST_CFLAGS)) $(CFLAGS) $(LDFLAGS) -o $@ $(PUBLISHED_SRC) $(BUILD)/formats/file.o $(BUILD)/formats/error.o $(BUILD)/libmona.a -pthread -lm

bench-published: $(BUILD)/tests/published
	$(Q)$(BUILD)/tests/published --report

# Versions of clang-format differ in what they make of one line or another: Debian 12's judges.
.PHONY: format-check
FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format))
format-check:
	$(Q)$(or $(FORMAT),clang-format) --version | grep -q 'version 14\.' || \
	    { echo 'make format-check needs clang-format 14 (FORMAT=clang-format-14)'; exit 2; }
	$(Q)git ls-files -z '*.c' '*.h' | xargs -0 $(FORMAT) --dry-run -Werror

# ---- the rest ---------------------------------------------------------------------------------
# What the option tables are written out as, and where each kind of file is looked for.
MAN := share/man/man1/mona.1
BASH_COMPLETION := share/bash-completion/completions/mona
ZSH_COMPLETION := share/zsh/site-functions/_mona

install: all
	install -D -m 755 $(BUILD)/mona $(DESTDIR)$(PREFIX)/bin/mona
	$(BUILD)/mona help --man > $(BUILD)/gen/mona.1
	$(BUILD)/mona help --completion bash > $(BUILD)/gen/mona.bash
	$(BUILD)/mona help --completion zsh > $(BUILD)/gen/_mona
	install -D -m 644 $(BUILD)/gen/mona.1 $(DESTDIR)$(PREFIX)/$(MAN)
	install -D -m 644 $(BUILD)/gen/mona.bash $(DESTDIR)$(PREFIX)/$(BASH_COMPLETION)
	install -D -m 644 $(BUILD)/gen/_mona $(DESTDIR)$(PREFIX)/$(ZSH_COMPLETION)
	install -D -m 644 $(BUILD)/libmona.a $(DESTDIR)$(PREFIX)/lib/libmona.a
	install -D -m 644 engine/mona.h $(DESTDIR)$(PREFIX)/include/mona.h

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/mona lib/libmona.a include/mona.h $(MAN) $(BASH_COMPLETION) $(ZSH_COMPLETION))

clean:
	rm -rf build build-* demo

-include $(ENGINE_OBJ:.o=.d) $(UNOBSERVED_SRC:%.c=$(BUILD)/unobserved/%.d) $(FORMATS_OBJ:.o=.d) $(PIPELINE_OBJ:.o=.d) $(APP_OBJ:.o=.d) $(TRAIN_OBJ:.o=.d)
