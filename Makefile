# SPDX-License-Identifier: Apache-2.0
# mona: make, make demo, make test, make install, make dist, make clean, make help
#
# Variables, on the command line or in the environment:
#   CC AR NM CPPFLAGS CFLAGS LDFLAGS   the compiler and flags that come after the project's own
#   PKG_CONFIG ONNX_PROTO           for a build for another system: its pkg-config and its onnx.proto
#   HELP_MONA                       in such a build, a mona that runs here and writes the manual page and completions
#   BUILD                           the output folder (build)
#   PREFIX LIBDIR DESTDIR           where make install puts files (/usr/local, PREFIX/lib, nothing before them)
#   PYTHONDIR                       and the Python package (where the system's python3 looks below PREFIX/lib, else
#                                   PREFIX/lib/python3/dist-packages)
#   WERROR=1                        warnings are errors
#   SANITIZE=1                      the address and undefined-behaviour sanitisers; SANITIZE=thread, memory: those of
#                                   threads and of bytes never written (clang)
#   TESTS TIER                      which tests make check runs, see tests/run.sh
#   INPUT                           a clip for make demo
#   V=1                             show commands

ifeq ($(origin CC),default)
CC := gcc
endif
NM ?= nm
PKG_CONFIG ?= pkg-config
ONNX_PROTO ?= /usr/include/onnx/onnx.proto
BUILD ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
PYTHONDIR ?= $(shell /usr/bin/python3 -c 'import site; print(*[p for p in site.getsitepackages() if p.startswith("$(PREFIX)/lib/")][:1])' \
    2>/dev/null | grep . || echo $(PREFIX)/lib/python3/dist-packages)
Q := $(if $(V),,@)
# make would take a name with a space for two, and uninstall would remove both.
$(foreach v,BUILD PREFIX LIBDIR $(if $(filter file,$(origin PYTHONDIR)),,PYTHONDIR) GST_DIR DESTDIR,$(if $(word 2,x$($v)x),$(error $v: expected a path without spaces, found $($v))))

# By Debian's names; CONTRIBUTING.md has those of others.
PACKAGES := libc6-dev pkg-config protobuf-c-compiler libprotobuf-c-dev libonnx-dev libstb-dev libcjson-dev \
            libavformat-dev libavcodec-dev libavutil-dev libavfilter-dev libswscale-dev \
            zlib1g-dev libjpeg-dev libsodium-dev
DEMO_PACKAGES := ffmpeg
TEST_PACKAGES := $(DEMO_PACKAGES) libcmocka-dev python3 python3-cffi python3-numpy
# make test-full also needs these, which show man page, completions and web pages; their tests are skipped without them.
FULL_PACKAGES := $(TEST_PACKAGES) clang clang-tidy cmake meson cppcheck valgrind
LOOK_PACKAGES := man-db zsh graphviz chromium chromium-driver debootstrap slurm-wlm munge slurmdbd mariadb-server iproute2 buildah
# For tests of what lives in other programs, skipped without them.
GST_PACKAGES := libgstreamer-plugins-base1.0-dev gstreamer1.0-tools gstreamer1.0-plugins-base \
                gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
EMBED_PACKAGES := python3-torch $(GST_PACKAGES) nginx libnginx-mod-rtmp
# Programs that judge what mona wrote (tests/judges), which is not judged without them.
JUDGE_PACKAGES := pngcheck gifsicle libimage-exiftool-perl imagemagick python3-pil libtiff-tools prometheus python3-onnx \
                  gstreamer1.0-libav mkvtoolnix minisign
# For the tests on other CPUs, which are skipped without them.
CROSS_PACKAGES := gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user-static qemu-system-arm qemu-system-misc gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-riscv64-unknown-elf gcc-riscv64-linux-gnu libc6-dev-riscv64-cross clang-19 libc6-dev-i386 lib32gcc-$(shell gcc -dumpversion 2>/dev/null | cut -d. -f1)-dev
CROSS_CC := aarch64-linux-gnu-gcc
ARMV7_CC := arm-linux-gnueabihf-gcc -mcpu=cortex-a7 -mfpu=neon-vfpv4

# mona.h defines the version; its first number is part of the library's name.
VERSION := $(shell sed -n 's/^\#define MONA_VERSION "\(.*\)"/\1/p' engine/mona.h)
SONAME := libmona.so.$(firstword $(subst ., ,$(VERSION)))

WARN := -Wall -Wextra -Wpedantic -Werror=int-conversion $(if $(WERROR),-Werror)
# The result contains neither the build's folder nor its time: two builds of one commit are the same bytes.
OPTIMISE = -O3
BASE = -std=c11 $(OPTIMISE) -g $(WARN) -ffp-contract=off -ffile-prefix-map="$$PWD"=. -MMD -MP
ifdef SANITIZE
SANITIZERS := $(if $(filter thread memory,$(SANITIZE)),$(SANITIZE),address,undefined)
BASE += -fsanitize=$(SANITIZERS) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SANITIZERS)
# What checks a sum for overflow keeps gcc from seeing how large it can be.
WARN += $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
endif
# The engine and its kernels: freestanding, nothing of libc but the mem* four. The same objects make the archives
# and libmona.so, which shows only what mona.h declares. A program linked with --gc-sections holds only what it uses.
ENGINE_CFLAGS = $(BASE) -fPIC -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fvisibility=hidden -ffreestanding -fstack-usage -I. -Iengine
LIBRARIES := libavformat libavcodec libavutil libavfilter libswscale zlib libjpeg libprotobuf-c libcjson
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES) 2>/dev/null)
# For mona sign and mona inspect --verify, which say so where it was not there.
SODIUM := $(shell $(PKG_CONFIG) --exists libsodium 2>/dev/null && echo libsodium)
# zlib and libjpeg, which only pictures need, are opened with the first one (pipeline/image/libraries.c), and FFmpeg's large
# libraries by the command when they are needed (pipeline/base/on_demand.c), where they are shared. LINKED=1 links all.
SHARED = $(shell $(CC) $(LDFLAGS) -print-file-name=lib$(1).so)
ifeq ($(origin LINKED),undefined)
LINKED := $(if $(and $(findstring /,$(call SHARED,avcodec)),$(findstring /,$(call SHARED,jpeg))),,1)
endif
LINK_LIBRARIES := $(if $(LINKED),$(LIBRARIES),$(filter-out zlib libjpeg,$(LIBRARIES)))
LIBS := $(shell $(PKG_CONFIG) --libs $(LINK_LIBRARIES) $(SODIUM) 2>/dev/null) -pthread -lm
# Position-independent as in PIE programs: the same objects make the command and libmonavideo.so, which shows only
# what monavideo.h declares. Nothing unwinds the stack of C: debuggers have tables of their own.
HOST_CFLAGS = $(BASE) $(HARDENED) -fno-asynchronous-unwind-tables -fPIC -fvisibility=hidden -D_GNU_SOURCE -I. -Iengine -I$(BUILD)/gen $(PKG_CFLAGS)
COMPILE_HOST = $(CC) $(HOST_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# ---- sources ----------------------------------------------------------------------------------
ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
# libmona.a is all that runs a plan; libmona-plan.a makes plans; libmona-model310.a is the modelled chip;
# libmona-ascend.a is the real one.
MACROS := $(shell $(CC) -dM -E -xc /dev/null 2>/dev/null | cut -d' ' -f2)
PORT := $(if $(filter __unix__,$(MACROS)),posix posix_pool,none)
THREADS := $(if $(filter posix,$(PORT)),-pthread)
# What reads files is hardened, unless the caller's flags say how. The engine, which calls no libc, cannot be.
takes = $(shell $(CC) -Werror $(1) -S -o /dev/null -xc /dev/null > /dev/null 2>&1 && echo $(1))
# Jumps and returns go only where the program has a mark for them, on CPUs that look (CET, BTI): in the engine, too.
MARKED := $(if $(SANITIZE)$(filter none,$(PORT)),,$(foreach f,-fcf-protection=full -mbranch-protection=standard,$(call takes,$(f))))
BASE += $(MARKED)
HARDENED := $(if $(SANITIZE)$(filter none,$(PORT)),,$(foreach f,-fstack-protector-strong -fstack-clash-protection,$(call takes,$(f))) \
    $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))$(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
# Tables of addresses can only be read once a program runs.
HARDENED_LINK := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
RUN_SRC := $(wildcard $(addsuffix /*.c,engine engine/model engine/layout engine/run engine/cpu/c ops ops/arrays)) $(patsubst %,engine/port/%.c,$(PORT))
PLAN_SRC := $(wildcard engine/plan/*.c)
MODEL310_SRC := $(wildcard $(addsuffix /*.c,engine/aicore engine/model310 ops/ascend))
ifeq ($(ARCH),x86_64)
RUN_SRC += $(wildcard engine/cpu/x86/*.c)
else ifeq ($(ARCH),aarch64)
RUN_SRC += $(wildcard engine/cpu/arm/neon*.c)
else ifneq ($(filter __ARM_FEATURE_MVE,$(MACROS)),)
RUN_SRC += engine/cpu/arm/mve.c
else ifneq ($(filter __ARM_NEON,$(MACROS)),)
RUN_SRC += $(filter-out %_dotprod.c %_i8mm.c,$(wildcard engine/cpu/arm/neon*.c))
else ifneq ($(filter __ARM_FEATURE_DSP,$(MACROS)),)
RUN_SRC += engine/cpu/arm/dsp.c
else ifeq ($(ARCH),riscv64)
RUN_SRC += $(wildcard engine/cpu/riscv/*.c)
endif
ASCEND_SRC := $(wildcard engine/ascend/*.c) engine/port/posix_library.c
FORMATS_SRC := $(wildcard formats/*.c formats/*/*.c formats/*/*/*.c)
PIPELINE_SRC := $(filter-out %/on_demand.c,$(wildcard pipeline/*.c pipeline/*/*.c pipeline/*/*/*.c))
APP_SRC := $(filter-out apps/demo/% apps/firmware/% apps/engine_only/% apps/examples/% apps/gstreamer/% apps/ascend/%,$(wildcard apps/*/*.c apps/*/*/*.c))
MODELS := $(sort $(wildcard models/*.mona))

obj = $(patsubst %.c,$(BUILD)/%.o,$(1))
ENGINE_OBJ := $(call obj,$(sort $(RUN_SRC) $(PLAN_SRC) $(MODEL310_SRC) $(ASCEND_SRC)))
ARCHIVES := $(addprefix $(BUILD)/,$(if $(filter posix,$(PORT)),libmona-ascend.a) libmona-model310.a libmona-plan.a libmona.a)# in the order in which they are linked
FORMATS_OBJ := $(call obj,$(FORMATS_SRC)) $(BUILD)/gen/onnx.pb-c.o
PIPELINE_OBJ := $(call obj,$(PIPELINE_SRC))
APP_OBJ := $(call obj,$(APP_SRC)) $(BUILD)/models/embedded.o

.PHONY: all check-acl-headers check-kernel-headers check-csim check-tik demo test test-full check fuzz check-aarch64 check-armv7 check-rvv check-cpus check-trixie bench-gate bench-peers bench-published deps gstreamer-deps test-deps test-full-deps install uninstall dist clean help
.DELETE_ON_ERROR:
.SECONDARY:

all: needed $(BUILD)/mona $(ARCHIVES) $(BUILD)/libmona.so $(BUILD)/libmonavideo.so $(BUILD)/python/mona/__init__.py

help:
	@echo 'make                 build/mona, build/libmona*.a and .so, build/python'
	@echo 'make deps            install what is missing for that and for make demo (Debian, Ubuntu; CONTRIBUTING.md names others)'
	@echo 'make demo            install what is missing, build, enhance a rendered clip, print figures'
	@echo 'make demo INPUT=F    the same on a file of yours'
	@echo 'make data            fetch what training reads into DATA=../shared/data, or name what cannot be fetched'
	@echo 'make readme-picture  docs/scene.jpg, which README.md shows, from the demo of this build'
	@echo 'make test            install what is missing, build, run the tests that take minutes'
	@echo 'make test-full       test everything: also clang, sanitisers, browsers, other CPUs, long runs'
	@echo 'make check           only the tests of this build (CC=, BUILD=, SANITIZE=1, TIER=short, TESTS= choose which)'
	@echo 'make static          $(BUILD)/static/mona, with FFmpeg inside, needs only libc (docs/static.md)'
	@echo 'make arduino         $(BUILD)/mona-arduino.zip, the library for Arduino; apps/firmware/package.sh has Zephyr, ESP-IDF, CMSIS'
	@echo 'make engine-only     $(BUILD)/engine-only/mona, without video, for boards that only infer'
	@echo 'make check-aarch64   only the tests of the kernels for ARMv8-A, emulated'
	@echo 'make check-armv7     the same for ARMv7-A with NEON'
	@echo 'make check-rvv       kernels for RISC-V with vectors, emulated'
	@echo 'make check-trixie    build without a warning and test in a bare Debian 13 that debootstrap makes (root)'
	@echo 'make fuzz            run the readers and the compiler on inputs from libFuzzer, FUZZ_SECONDS=60 each'
	@echo 'make fuzz-valgrind   run the readers of pictures in valgrind, CHANGES=400 of each file'
	@echo 'make fuzz-memory     run the readers of models in clang''s sanitiser of bytes never written'
	@echo 'make fuzz-pixels     run decoders of pictures, RUNS= of them, in that sanitiser, their libraries as well (LIBRARIES=)'
	@echo 'make fuzz-coverage   how much of each reader these reach'
	@echo 'make bench-peers     speed and memory beside ONNX Runtime and oneDNN (installs them, takes minutes)'
	@echo 'make bench-firmware ONNX2C=FOLDER  flash, RAM and instructions beside onnx2c, emulated'
	@echo 'make firmware-costs  measure anew what mona inspect --firmware tells (an hour)'
	@echo 'make bench-gate AGAINST=FOLDER   fail where this build is over 3 % slower than that in FOLDER'
	@echo 'make bench-table     time the built-in models and print the table of docs/benchmark.md'
	@echo 'make ascend-kernel   kernels for AI Cores, by the compiler of the toolkit at CANN=: one for all programs, and for each in FOR='
	@echo 'make bench-published compare modelled with published speeds of networks on the 310'
	@echo 'make gstreamer       build/libgstmona.so, the element monaenhance; make install installs it where it can be built'
	@echo 'make install         into PREFIX ($(PREFIX)), libraries into LIBDIR; DESTDIR is honoured; make uninstall, with the same variables, removes it'
	@echo 'make dist            $(BUILD)/mona-$(VERSION).tar.gz, the sources of the last commit'
	@echo 'make check-acl-headers ACL_INCLUDE=F  compare declarations of the device ascend with a CANN in F'
	@echo 'make check-kernel-headers TIKICPULIB=F  compile the kernels for AI Cores with the stub headers in F'
	@echo 'make check-csim CSIM=F  compare instructions of AI Cores with the simulator inside AKG, the library F'
	@echo 'make check-tik TIK=F  compare limits of instructions with those of the kernel language TIK in F'
	@echo 'make sbom            $(BUILD)/mona-$(VERSION).spdx, a bill of materials (SPDX)'
	@echo 'make format-check    fail on files that clang-format 14 would change'
	@echo 'make clean           remove $(BUILD) and the demo output'

# ---- what must be installed -------------------------------------------------------------------
# Sets missing to those of PACKAGES that are not installed: none, where no dpkg knows.
missing = missing=; for p in $(1); do \
	    ! command -v dpkg-query > /dev/null || dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || \
	        missing="$$missing $$p"; \
	done
# $(call need,PACKAGES): installs those missing, or says how and stops.
define need
	@$(call missing,$(1)); \
	if [ -n "$$missing" ]; then \
	    if [ "$$(id -u)" = 0 ]; then \
	        apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	    else \
	        echo "mona needs these packages first; run:"; \
	        echo "  sudo apt-get install --no-install-recommends$$missing"; exit 1; \
	    fi; \
	fi
endef

# What the objects above the engine need, whatever a system calls its packages: says what is not there, and stops.
.PHONY: needed
needed:
	@lacks=; \
	for tool in $(firstword $(CC)) $(firstword $(PKG_CONFIG)) protoc-c; do \
	    command -v $$tool > /dev/null || lacks="$$lacks, $$tool"; \
	done; \
	for library in $(LIBRARIES); do \
	    $(PKG_CONFIG) --exists $$library 2> /dev/null || lacks="$$lacks, $$library"; \
	done; \
	for header in stdio.h $(if $(filter libavformat,$(LIBRARIES)),stb/stb_image.h); do \
	    echo "#include <$$header>" | $(CC) $(CPPFLAGS) $(CFLAGS) -E -xc - > /dev/null 2>&1 || lacks="$$lacks, $$header"; \
	done; \
	[ -e '$(ONNX_PROTO)' ] || lacks="$$lacks, $(ONNX_PROTO)"; \
	[ -n "$$lacks" ] || exit 0; \
	echo "mona cannot be built: not found: $${lacks#, }" >&2; \
	$(call missing,$(PACKAGES) $(DEMO_PACKAGES)); \
	if [ -n "$$missing" ]; then \
	    echo "make deps, as root, installs what is missing, and so does:" >&2; \
	    echo "  sudo apt-get install --no-install-recommends$$missing" >&2; \
	else echo "CONTRIBUTING.md says which packages have them." >&2; fi; \
	exit 1
$(ONNX_PROTO): | needed

deps:
	$(call need,$(PACKAGES) $(DEMO_PACKAGES))

gstreamer-deps:
	$(call need,$(GST_PACKAGES))

test-deps:
	$(call need,$(PACKAGES) $(TEST_PACKAGES))

test-full-deps:
	$(call need,$(PACKAGES) $(FULL_PACKAGES))
	-$(call need,$(LOOK_PACKAGES))
	-$(call need,$(EMBED_PACKAGES))
	-$(call need,$(JUDGE_PACKAGES) $(if $(shell command -v npm),,nodejs npm))
	-$(Q)$(INSTALL_ORT)
	-$(Q)$(call npm_install,mp4box)
	-$(Q)$(call npm_install,kubernetes-models)
	-$(Q)$(call npm_install,js-yaml)
	$(if $(filter x86_64,$(ARCH)),-$(call need,$(CROSS_PACKAGES)))

# ---- engine -----------------------------------------------------------------------------------
$(BUILD)/engine/cpu/x86/avx2.o: ENGINE_CFLAGS += -mavx2 -mfma -mf16c $(call takes,-fno-unswitch-loops)
$(BUILD)/engine/cpu/x86/avxvnni.o: ENGINE_CFLAGS += -mavx2 -mfma -mf16c -mavxvnni
AVX512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c
$(BUILD)/engine/cpu/x86/avx512.o: ENGINE_CFLAGS += $(AVX512)
$(BUILD)/engine/cpu/x86/amx.o: ENGINE_CFLAGS += $(AVX512) -mamx-tile -mamx-int8
ifeq ($(ARCH),aarch64)
ENGINE_CFLAGS += -mno-outline-atomics# which would call the compiler's run-time library
endif
ifeq ($(ARCH),arm)
$(call obj,$(wildcard engine/cpu/arm/neon*.c)): ENGINE_CFLAGS += $(call takes,-mfp16-format=ieee)
endif
$(BUILD)/engine/cpu/arm/neon_dotprod.o: ENGINE_CFLAGS += -march=armv8.2-a+dotprod
$(BUILD)/engine/cpu/arm/neon_i8mm.o: ENGINE_CFLAGS += -march=armv8.2-a+dotprod+i8mm+fp16
$(BUILD)/engine/cpu/riscv/rvv.o: ENGINE_CFLAGS += $(call takes,-march=rv64gcv)
# What is not a kernel for one instruction set is nearly as fast at a third of the size.
SMALL := -O2 -ftree-vectorize $(call takes,-fvect-cost-model=dynamic)
$(call obj,$(filter-out engine/cpu/x86/% engine/cpu/arm/neon.c engine/cpu/arm/neon_dotprod.c engine/cpu/arm/neon_i8mm.c engine/cpu/arm/mve.c engine/cpu/riscv/% ops/%,$(RUN_SRC)) $(PLAN_SRC)): OPTIMISE = $(SMALL)
$(BUILD)/engine/cpu/c/c_conv.o: OPTIMISE = $(SMALL) $(call takes,-fpeel-loops)
# Nothing reads the flags of floating-point exceptions; without them GCC makes vectors of selections.
$(BUILD)/ops/arrays/real.o: OPTIMISE += $(call takes,-fno-trapping-math)
$(call obj,$(addprefix engine/cpu/arm/neon,.c _dotprod.c _i8mm.c)): OPTIMISE = -O2 $(call takes,-fpeel-loops)
$(addprefix $(BUILD)/engine/port/,posix.o posix_pool.o posix_library.o): ENGINE_CFLAGS = $(BASE) -fPIC -fvisibility=hidden -D_GNU_SOURCE -I. -Iengine -pthread

$(BUILD)/engine/%.o: engine/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ENGINE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/ops/%.o: ops/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ENGINE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/libmona.a: $(call obj,$(sort $(RUN_SRC)))
$(BUILD)/libmona-plan.a: $(call obj,$(PLAN_SRC))
$(BUILD)/libmona-model310.a: $(call obj,$(MODEL310_SRC))
$(BUILD)/libmona-ascend.a: $(call obj,$(ASCEND_SRC))
$(ARCHIVES):
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libmona.so: $(ENGINE_OBJ)
	$(Q)$(CC) $(HARDENED_LINK) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $^ -pthread
	$(Q)ln -sf libmona.so $(BUILD)/$(SONAME)

# ---- formats, pipeline, command ---------------------------------------------------------------
$(BUILD)/gen/onnx.pb-c.c: $(ONNX_PROTO)
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(BUILD)/gen/onnx.pb-c.h: $(BUILD)/gen/onnx.pb-c.c
$(BUILD)/gen/onnx.pb-c.o: WARN :=
$(BUILD)/gen/onnx.pb-c.o: $(BUILD)/gen/onnx.pb-c.c Makefile
	$(Q)$(COMPILE_HOST)

# What plans, opens, names and copies, but computes no pixel itself, is no faster with more.
$(call obj,$(wildcard ops/ascend/*.c) $(ASCEND_SRC) $(wildcard pipeline/*.c $(addsuffix /*.c,$(addprefix pipeline/,base job io/* library)))): private OPTIMISE = -Os
# Copies of their loops for what is left over add a third to their size and nothing to their speed.
$(addprefix $(BUILD)/pipeline/stages/,chroma_guide.o chroma_noise.o grain.o grain_measure.o): OPTIMISE += $(foreach f,vect-epilogues-nomask=0 max-completely-peeled-insns=60,$(call takes,--param=$f))
# Code that never runs per pixel is compiled without much optimisation, which is faster.
$(call obj,$(filter $(addsuffix /%,apps/cli apps/bench apps/devices apps/enhance apps/page apps/timing formats/onnx \
    $(addprefix formats/compiler/,import lower passes)),$(FORMATS_SRC) $(APP_SRC))): private OPTIMISE = -O1

$(BUILD)/gen/onnx.pb-c.c $(call obj,$(FORMATS_SRC) $(PIPELINE_SRC) $(APP_SRC)): | needed
$(call obj,$(FORMATS_SRC) $(APP_SRC)): $(BUILD)/gen/onnx.pb-c.h
$(BUILD)/apps/sign/minisign.o: HOST_CFLAGS += $(if $(SODIUM),-DMONA_SODIUM $(shell $(PKG_CONFIG) --cflags $(SODIUM) 2>/dev/null))
$(BUILD)/formats/%.o: formats/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(COMPILE_HOST)
$(BUILD)/pipeline/%.o: pipeline/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(COMPILE_HOST)
$(BUILD)/apps/%.o: apps/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(COMPILE_HOST)
$(BUILD)/tests/%.o: tests/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(COMPILE_HOST)

$(BUILD)/pipeline/image/libraries.o: HOST_CFLAGS += $(if $(LINKED),-DMONA_LINKED)

# What stb has beside the reading of PNG is left out when libmonavideo.so is linked.
$(BUILD)/pipeline/image/stills.o: HOST_CFLAGS += -ffunction-sections
# stb's PNG reader adds 0 to NULL and copies nothing to it for empty data.
$(BUILD)/pipeline/image/stills.o: BASE += $(if $(SANITIZE),-fno-sanitize=pointer-overflow -fno-sanitize=nonnull-attribute)

# What results of mona bench contain about the build; rewritten only when it changes. The commit is that of this
# checkout, not of an enclosing repository; in a tarball, git has written it to .commit.
.PHONY: always
$(BUILD)/gen/build_info.h: always
	@mkdir -p $(@D)
	@commit=unknown; \
	if [ "$$(git rev-parse --show-toplevel 2>/dev/null)" = "$$(pwd -P)" ]; then \
	    commit=$$(git rev-parse --short=12 HEAD); git diff --quiet HEAD 2>/dev/null || commit=$$commit-dirty; \
	elif grep -qE '^[0-9a-f]{40}' .commit 2>/dev/null; then commit=$$(cut -c -12 .commit); fi; \
	flags=$$(printf '%s' '$(filter-out $(WARN) -MMD -MP -I% -ffile-prefix-map=%,$(ENGINE_CFLAGS) $(CPPFLAGS) $(CFLAGS))' | sed 's/["\\]/\\&/g'); \
	printf '#define BUILD_COMMIT "%s"\n#define BUILD_FLAGS "%s"\n' "$$commit" "$$flags" > $@.$$$$; \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi
$(BUILD)/apps/bench/report/provenance.o: $(BUILD)/gen/build_info.h

$(BUILD)/apps/page/page.o: $(wildcard apps/page/*.html apps/page/*.js)

# A line for every model that is built into the binary: all in models.
$(BUILD)/gen/models.inc: always
	@mkdir -p $(@D)
	@printf 'MODEL(%s)\n' $(notdir $(MODELS:.mona=)) > $@.$$$$; \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi
$(BUILD)/models/embedded.o: models/embedded.c $(MODELS) $(BUILD)/gen/models.inc Makefile
	@mkdir -p $(@D)
	$(Q)$(COMPILE_HOST)

COMMAND_OBJ := $(APP_OBJ) $(PIPELINE_OBJ) $(FORMATS_OBJ)
ON_DEMAND := $(if $(LINKED)$(SANITIZE)$(filter-out x86_64,$(ARCH)),,$(filter avcodec avformat avfilter,$(LIBRARIES:lib%=%)))
$(BUILD)/gen/on_demand.inc: $(COMMAND_OBJ)
	@$(NM) -u $(COMMAND_OBJ) | awk '$$1 == "U" { print $$2 }' | sort -u > $@.used
	@for l in $(ON_DEMAND); do \
	    $(NM) -D --defined-only "$$($(CC) $(LDFLAGS) -print-file-name=lib$$l.so)" | awk -v l=$$l '{ sub(/@.*/, "", $$3); print $$3, l }'; \
	done | sort | join $@.used - | sed 's/\(.*\) \(.*\)/FUNCTION(\1, \2)/' > $@
$(BUILD)/gen/on_demand.o: pipeline/base/on_demand.c $(BUILD)/gen/on_demand.inc
	$(Q)$(COMPILE_HOST)
$(BUILD)/gen/on_demand_x86_64.o: pipeline/base/on_demand_x86_64.S $(BUILD)/gen/on_demand.inc
	$(Q)$(COMPILE_HOST)

$(BUILD)/mona: $(COMMAND_OBJ) $(if $(ON_DEMAND),$(addprefix $(BUILD)/gen/,on_demand.o on_demand_x86_64.o)) $(ARCHIVES)
	$(Q)$(CC) $(HARDENED_LINK) -pie $(CFLAGS) $(LDFLAGS) -o $@ $^ $(filter-out $(ON_DEMAND:%=-l%),$(LIBS))

# ---- mona in one file -------------------------------------------------------------------------
# With FFmpeg's libraries and encoders inside, for systems that have none. It needs nothing but libc, which stays
# shared so that a vendor's libraries can be loaded.
STATIC := $(BUILD)/static
SOURCES ?= $(STATIC)/sources
STATIC_ARCH := $(patsubst %,:%,$(if $(filter $(ARCH),$(shell uname -m)),,$(ARCH:aarch64=arm64)))
STATIC_PACKAGES := protobuf-c-compiler libonnx-dev libstb-dev pkg-config cmake meson nasm dpkg-dev xz-utils \
    $(if $(STATIC_ARCH),g++-aarch64-linux-gnu,g++) \
    $(addsuffix -dev$(STATIC_ARCH),libprotobuf-c libx264 libvpx libopus libmp3lame libwebp zlib1g libjpeg libbz2 liblzma)
STATIC_PKG_CONFIG = env PKG_CONFIG_LIBDIR=$(abspath $(STATIC))/libraries/lib/pkgconfig:/usr/lib/$(shell $(CC) -dumpmachine | sed s/-pc-/-/)/pkgconfig:/usr/share/pkgconfig pkg-config --static
.PHONY: static static-deps check-static
static-deps:
	$(if $(STATIC_ARCH),$(Q)dpkg --add-architecture $(STATIC_ARCH::%=%) && apt-get update -q)
	$(call need,$(STATIC_PACKAGES))
static:
	$(Q)[ -d '$(SOURCES)' ] || sh apps/static/sources.sh '$(SOURCES)'
	$(Q)CC='$(CC)' sh apps/static/libraries.sh $(STATIC)/libraries '$(SOURCES)'
	$(Q)$(MAKE) --no-print-directory BUILD=$(STATIC) PKG_CONFIG='$(STATIC_PKG_CONFIG)' \
	    LDFLAGS='$(LDFLAGS) -s -static-libgcc -Wl,--gc-sections -L$(STATIC)/libraries/lib' \
	    LIBS="$$($(STATIC_PKG_CONFIG) --libs $(LIBRARIES) | sed 's/-lgcc_s\|-lgcc\|-lc //g') -lstdc++ -ldl -pthread -lm" LINKED=1 SODIUM= $(STATIC)/mona
check-static: all $(BUILD)/scene
	$(Q)BUILD=$(BUILD) SCRIPTS=tests/static.sh sh tests/run.sh static.sh

# ---- mona without video -----------------------------------------------------------------------
# For boards that only infer: no FFmpeg, neither to build nor to run. The objects have a folder of their own, for
# they are compiled with MONA_NO_VIDEO.
ENGINE_ONLY_SRC := $(filter-out %/command_table.c %/bench_pipeline.c %/bench_live.c %/live_source.c %/capacity_processes.c %/bench_clip.c %/pipeline_marks.c %/chip_report_video.c %/calibration_clip.c %/cmd_eval.c, \
    $(wildcard apps/cli/*.c $(addprefix apps/,bench/*.c bench/report/*.c compile/*.c devices/*.c page/*.c sign/*.c timing/*.c verify/*.c))) \
    $(wildcard apps/engine_only/*.c) $(addprefix pipeline/,$(addprefix job/,ascend_setup.c devices.c kernel_folder.c limits.c model_source.c option.c suggest.c) base/error.c base/outfile.c base/sandbox.c base/stop.c quality/measure.c \
    stages/frame.c stages/frame_memory.c stages/plane_roles.c stages/session_binding.c)
ENGINE_ONLY := $(BUILD)/engine-only
.PHONY: engine-only
engine-only:
	$(call need,$(filter-out libav% libsw% libstb-dev zlib1g-dev libjpeg-dev,$(PACKAGES)))
	$(Q)$(MAKE) --no-print-directory BUILD=$(ENGINE_ONLY) LIBRARIES='libprotobuf-c libcjson' CPPFLAGS='$(CPPFLAGS) -DMONA_NO_VIDEO' \
	    APP_SRC='$(ENGINE_ONLY_SRC)' PIPELINE_SRC= $(ENGINE_ONLY)/mona

# pipeline/, and of formats/ what it uses: nothing of apps/, no compiler and no ONNX. The archives' own public functions
# stay inside: who wants them links libmona.so.
VIDEO_SONAME := libmonavideo.so.$(firstword $(subst ., ,$(VERSION)))
VIDEO_LIBS = $(shell $(PKG_CONFIG) --libs $(filter-out libprotobuf-c libcjson,$(LINK_LIBRARIES)) 2>/dev/null) -pthread -lm
$(BUILD)/libformats.a: $(call obj,$(FORMATS_SRC))
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/libmonavideo.so: $(PIPELINE_OBJ) $(BUILD)/models/embedded.o $(BUILD)/libformats.a $(ARCHIVES)
	$(Q)$(CC) $(HARDENED_LINK) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(VIDEO_SONAME) -Wl,--exclude-libs,ALL -Wl,--gc-sections \
	    $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $^ $(VIDEO_LIBS)
	$(Q)ln -sf libmonavideo.so $(BUILD)/$(VIDEO_SONAME)

# ---- the package for Python, which also works in the build folder (PYTHONPATH=build/python) ------
# It reads the headers, and prefers libraries and a command that lie beside it.
PYTHON_SRC := $(wildcard apps/python/mona/*.py) engine/mona.h engine/mona_op.h pipeline/monavideo.h
$(BUILD)/python/mona/__init__.py: $(PYTHON_SRC) Makefile
	$(Q)rm -rf $(@D) && mkdir -p $(@D) && cp $(PYTHON_SRC) $(@D)
	$(Q)for f in $(SONAME) $(VIDEO_SONAME) mona; do ln -s ../../$$f $(@D)/$$f || exit 1; done

# ---- the element of GStreamer, where its development files are -----------------------------------
GST := gstreamer-video-1.0
GST_DIR ?= $(LIBDIR)/gstreamer-1.0
GST_PLUGIN := $(if $(filter-out 0,$(shell $(PKG_CONFIG) --exists $(GST) 2>/dev/null; echo $$?)),,$(BUILD)/libgstmona.so)
.PHONY: gstreamer
gstreamer: $(BUILD)/libgstmona.so
# The headers of GStreamer are not as pedantic, and its enumerations hold flags.
$(BUILD)/apps/gstreamer/monaenhance.o: WARN := -Wall -Wextra $(if $(WERROR),-Werror)
$(BUILD)/apps/gstreamer/monaenhance.o: HOST_CFLAGS += $(shell $(PKG_CONFIG) --cflags $(GST) 2>/dev/null) -DMONA_PLUGIN_VERSION='"$(VERSION)"'
$(BUILD)/libgstmona.so: $(BUILD)/apps/gstreamer/monaenhance.o $(BUILD)/libmonavideo.so
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $< -L$(BUILD) -lmonavideo $$($(PKG_CONFIG) --libs $(GST))

# ---- an example of a program that links the library alone ----------------------------------------
$(BUILD)/firmware: $(addprefix $(BUILD)/,apps/firmware/main.o models/embedded.o libmona-plan.a libmona.a)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

# The library for Arduino's IDE; apps/firmware/package.sh has other packages.
.PHONY: arduino
arduino: $(BUILD)/mona
	$(Q)rm -rf $(BUILD)/arduino $(BUILD)/mona-arduino.zip
	$(Q)MONA=$(BUILD)/mona sh apps/firmware/package.sh arduino $(BUILD)/arduino/mona
	$(Q)cd $(BUILD)/arduino && python3 -m zipfile -c "$(abspath $(BUILD))/mona-arduino.zip" mona

# What the firmware for boards in apps/firmware must print (boards.sh).
$(BUILD)/camera_host: $(addprefix $(BUILD)/,apps/firmware/host.o apps/firmware/sensor.o models/embedded.o libmona-plan.a libmona.a)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

# For observe.sh: the library built without observers, and a program with it. The rest of the code must be the same.
UNOBSERVED := $(BUILD)/unobserved
UNOBSERVED_SRC := $(wildcard engine/run/session*.c)
$(UNOBSERVED_SRC:%.c=$(UNOBSERVED)/%.o): OPTIMISE = $(SMALL)
$(UNOBSERVED)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ENGINE_CFLAGS) -DMONA_NO_OBSERVER $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(UNOBSERVED)/libmona.a: $(filter-out $(call obj,$(UNOBSERVED_SRC)),$(call obj,$(sort $(RUN_SRC)))) $(UNOBSERVED_SRC:%.c=$(UNOBSERVED)/%.o)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(UNOBSERVED)/firmware: $(addprefix $(BUILD)/,apps/firmware/main.o models/embedded.o libmona-plan.a) $(UNOBSERVED)/libmona.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread

# ---- the chip ---------------------------------------------------------------------------------
# Kernels for AI Cores, by the vendor's compiler: make ascend-kernel CANN=/path/to/the/toolkit. The command is the one that the
# toolkit's own operators are compiled with. Besides the replay kernel, which runs every program, it makes one for each program
# in FOR="A.mona B.mona"; unless FOR is given, for those of the networks in NETS at SIZE, which enhance a film on a chip by default.
.PHONY: ascend-kernel
CCEC ?= $(firstword $(wildcard $(addprefix $(CANN)/,ccec_compiler/bin/ccec compiler/ccec_compiler/bin/ccec atc/ccec_compiler/bin/ccec \
    */ccec_compiler/bin/ccec ccec_compiler/bin/bisheng */ccec_compiler/bin/bisheng)))
CCEC_FLAGS = -I. -Iengine --cce-aicore-arch=dav-m100 --cce-aicore-only --cce-auto-sync=off -mllvm -cce-aicore-jump-expand=false \
    -mllvm -cce-aicore-mask-opt=false -fno-jump-tables
NETS ?= denoise_fast_video sr_x2_fast_video
SIZE ?= 1920x1080
OWN_NETS := $(if $(filter undefined,$(origin FOR)),$(NETS))
ascend-kernel:
	@test -n '$(CCEC)' || { echo 'make ascend-kernel: expected CANN=/path/to/a/toolkit with ccec_compiler/bin/ccec, found $(if $(CANN),none in $(CANN),no CANN)'; exit 2; }
	@test -x $(BUILD)/mona || test -z '$(OWN_NETS)$(FOR)' || { echo 'make ascend-kernel: expected $(BUILD)/mona, found none; make builds it'; exit 2; }
	@mkdir -p $(BUILD)
	$(CCEC) -c -O2 engine/ascend/kernel/replay.cce $(CCEC_FLAGS) -o $(BUILD)/mona_replay.o
	$(Q)set -e; for net in $(OWN_NETS); do \
	    $(BUILD)/mona compile $$net -o $(BUILD)/$${net}_$(SIZE).mona --target ascend310 --size $(SIZE) > /dev/null; done; \
	for model in $(FOR) $(OWN_NETS:%=$(BUILD)/%_$(SIZE).mona); do \
	    own=$(BUILD)/mona_own_$$(basename "$$model" .mona); echo "a kernel for $$model: $$own.o"; \
	    $(BUILD)/mona inspect "$$model" --kernel > "$$own.cce"; \
	    $(CCEC) -c -O2 "$$own.cce" $(CCEC_FLAGS) -o "$$own.o"; rm "$$own.cce"; done

# The first run on a chip (apps/ascend/first_light.sh).
$(BUILD)/first_light: $(addprefix $(BUILD)/apps/,$(addprefix ascend/,first_light.o light.o layers.o costs.o)) $(BUILD)/pipeline/job/ascend_setup.o $(FORMATS_OBJ) $(BUILD)/models/embedded.o $(ARCHIVES)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# ---- demo -------------------------------------------------------------------------------------
$(BUILD)/scene: $(BUILD)/apps/demo/scene.o
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

demo: deps
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/scene
	$(Q)BUILD=$(BUILD) INPUT='$(INPUT)' sh apps/demo/demo.sh

# The picture of README.md, of today's networks; demo.sh fails where it is another.
README_FRAMES := 10
.PHONY: data
data:
	-$(call need,git python3-pil)
	$(Q)/usr/bin/python3 models/train/fetch.py $(or $(DATA),../shared/data)

.PHONY: readme-picture
readme-picture: deps
	$(call need,ffmpeg)
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/scene
	$(Q)BUILD=$(BUILD) INPUT= OUT=$(BUILD)/readme FRAMES=$(README_FRAMES) sh apps/demo/demo.sh
	$(Q)ffmpeg -v error -y -i $(BUILD)/readme/side_by_side.png -vf scale=1152:-2:flags=area -pix_fmt yuvj444p -q:v 3 docs/scene.jpg
	@echo 'docs/scene.jpg'

# ---- tests ------------------------------------------------------------------------------------
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
ifneq ($(ARCH),x86_64)
UNIT_SRC := $(filter-out %/test_chain.c,$(UNIT_SRC))# what it tests is written for AVX-512
endif
UNIT := $(addprefix $(BUILD)/tests/,$(notdir $(basename $(UNIT_SRC))))

$(call obj,$(wildcard tests/unit/*/*.c tests/fuzz/*.c tests/e2e/*/*.c)): $(BUILD)/gen/onnx.pb-c.h
$(foreach test,$(UNIT_SRC),$(eval $(BUILD)/tests/$(notdir $(basename $(test))): $(call obj,$(test))))
# All but the engine and the command. From an archive each program takes what it uses, no more, and so with libraries.
PARTS := $(BUILD)/tests/parts.a $(ARCHIVES)
$(BUILD)/tests/parts.a: $(PIPELINE_OBJ) $(FORMATS_OBJ) $(BUILD)/models/embedded.o
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcsT $@ $^
LINK_PARTS = $(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(filter %.a,$^)
$(UNIT): $(PARTS)
	$(Q)$(LINK_PARTS) -lcmocka $(LIBS)
# Tests of parts of the command.
$(BUILD)/tests/test_statistics: $(addprefix $(BUILD)/apps/timing/,statistics.o significance.o)
$(BUILD)/tests/test_telemetry: $(addprefix $(BUILD)/apps/devices/,telemetry.o telemetry_log.o npu_smi.o)
$(BUILD)/tests/test_npu_smi: $(BUILD)/apps/devices/npu_smi.o
$(BUILD)/tests/test_fair_queue: $(BUILD)/apps/bench/fair_queue.o
$(BUILD)/tests/test_verdict $(BUILD)/tests/test_capacity $(BUILD)/tests/test_pipeline_marks $(BUILD)/tests/test_top1_margin $(BUILD)/tests/test_settings: $(filter-out %/mona.o %/embedded.o,$(APP_OBJ))
# The replay kernel, compiled for this machine, and the core that it runs on.
KERNEL_OBJ := $(addprefix $(BUILD)/engine/ascend/kernel/,replay.o emulation.o)
$(BUILD)/tests/test_replay $(BUILD)/tests/test_small_channels $(BUILD)/tests/test_readings $(BUILD)/tests/test_replay_operands: $(KERNEL_OBJ)
$(BUILD)/engine/ascend/kernel/replay.o: engine/ascend/kernel/replay.cce Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(ENGINE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ -x c $<
# A stand-in for the vendor's libraries, of kits that differ in what they have (tests/ascend/README.md).
FAKE_full :=
FAKE_old := -DFAKE_OLD
FAKE_operators := -DFAKE_OLD -DFAKE_NO_RUNTIME
FAKE_binaries := -DFAKE_NO_RUNTIME -DFAKE_NO_OPERATORS
FAKE_none := -DFAKE_OLD -DFAKE_NO_RUNTIME -DFAKE_NO_OPERATORS
FAKE_broken := -DFAKE_BROKEN
FAKES := $(foreach kit,full old operators binaries none broken,$(BUILD)/ascend/$(kit)/libascendcl.so)
$(FAKES): $(BUILD)/ascend/%/libascendcl.so: $(wildcard tests/ascend/*.[ch]) engine/ascend/acl.h engine/ascend/functions.inc $(KERNEL_OBJ) $(ARCHIVES) Makefile
	@mkdir -p $(@D)
	$(Q)for f in runtime report kernel model dcmi; do \
	    $(CC) -std=c11 -O1 -g $(WARN) $(if $(SANITIZE),-fsanitize=$(SANITIZERS)) -fPIC -fvisibility=hidden -D_GNU_SOURCE -I. -Iengine $(FAKE_$*) $(CPPFLAGS) $(CFLAGS) \
	        -c -o $(@D)/$$f.o tests/ascend/fake_$$f.c || exit 1; \
	done
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $(addprefix $(@D)/,runtime.o report.o kernel.o model.o dcmi.o) $(KERNEL_OBJ) $(filter-out %ascend.a,$(ARCHIVES)) -pthread
	$(Q)ln -sf libascendcl.so $(@D)/libruntime.so
	$(Q)ln -sf libascendcl.so $(@D)/libdcmi.so
# The video decoder, which is libavcodec's. One kit's is too old; the rest have none.
FAKE_DVPP := $(foreach kit,full old operators,$(BUILD)/ascend/$(kit)/libacl_dvpp.so)
$(FAKE_DVPP): $(BUILD)/ascend/%/libacl_dvpp.so: tests/ascend/fake_dvpp.c $(BUILD)/ascend/%/libascendcl.so
	$(Q)$(CC) -std=c11 -O1 -g $(WARN) $(if $(SANITIZE),-fsanitize=$(SANITIZERS)) -fPIC -fvisibility=hidden -D_GNU_SOURCE -I. -Iengine $(PKG_CFLAGS) $(FAKE_$*) \
	    $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -shared -o $@ $< $$($(PKG_CONFIG) --libs libavcodec libavutil) -pthread
# Tests of training.
TRAIN_OBJ := $(addprefix $(BUILD)/models/train/avx512/,chain.o products.o)
$(BUILD)/tests/test_chain: $(TRAIN_OBJ)
$(TRAIN_OBJ): BASE += -fopenmp-simd -mavx512f -mavx512bw -mavx512vl -mavx512bf16 -mamx-tile -mamx-bf16
$(TRAIN_OBJ): $(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(Q)$(COMPILE_HOST)

# START: start-up code of a board (boards.sh).
$(BUILD)/tests/checkops: $(BUILD)/tests/checkops.o $(START) $(ARCHIVES)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(THREADS) -lm

# The same with tiles of AMX in C, for CPUs that have none.
EMULATED := $(addprefix $(BUILD)/tests/emulated/,checkops.o amx.o)
$(BUILD)/tests/emulated/checkops.o: tests/checkops.c Makefile
	@mkdir -p $(@D)
	$(Q)$(COMPILE_HOST) -DMONA_EMULATED_TILES='"tests/emulated_tiles.h"'
$(BUILD)/tests/emulated/amx.o: engine/cpu/x86/amx.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) $(AVX512) -DMONA_EMULATED_TILES='"tests/emulated_tiles.h"' $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(BUILD)/tests/checkops_tiles: $(EMULATED) $(ARCHIVES)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread -lm

# A network that changes nothing, for pictures.sh; classifiers of published shapes, for classifiers.sh.
$(BUILD)/neutral: $(BUILD)/tests/e2e/media/neutral.o $(BUILD)/gen/onnx.pb-c.o
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(BUILD)/classifiers: $(BUILD)/tests/e2e/models/classifiers.o $(BUILD)/gen/onnx.pb-c.o
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Models of every operator, for linked.sh.
$(BUILD)/operators $(BUILD)/array_costs: $(BUILD)/%: $(BUILD)/tests/e2e/engine/%.o $(ARCHIVES)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

# Random networks, judged (tests/judges/networks).
JUDGE_SRC := $(wildcard tests/judges/networks/*.c)
$(call obj,$(JUDGE_SRC)): $(BUILD)/gen/onnx.pb-c.h
$(BUILD)/judge_networks: $(call obj,$(JUDGE_SRC)) $(BUILD)/apps/compile/planes.o $(PARTS)
	$(Q)$(LINK_PARTS) $(LIBS)

# Fuzz targets: every build runs them on the files of their corpus, make fuzz also on inputs from libFuzzer.
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60
FUZZ_ENGINE ?= -fsanitize=fuzzer
# Readers check memory in one build; the other, without sanitisers, shows bytes that were never written (fuzz_still.c).
FUZZ_SANITIZE ?= 1

$(BUILD)/tests/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(PARTS)
	$(Q)$(LINK_PARTS) $(LIBS)
ifeq ($(SANITIZE),memory)
$(UNIT) $(addprefix $(BUILD)/tests/fuzz_,$(FUZZ)): $(BUILD)/tests/fuzz/unwatched.o
$(UNIT) $(addprefix $(BUILD)/tests/fuzz_,$(FUZZ)): LDFLAGS += -Wl,--wrap=protobuf_c_message_unpack,--wrap=protobuf_c_message_pack
endif
# Those of command lines and of kernels need the command's parts.
$(addprefix $(BUILD)/,tests/fuzz_command libfuzzer/command tests/fuzz_kernel libfuzzer/kernel): $(filter-out %/mona.o %/embedded.o,$(APP_OBJ))
$(BUILD)/libfuzzer/%: $(BUILD)/tests/fuzz/fuzz_%.o $(PARTS)
	@mkdir -p $(@D)
	$(Q)$(LINK_PARTS) $(FUZZ_ENGINE) $(LIBS)

fuzz: deps
	$(call need,clang)
	$(Q)$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/fuzz SANITIZE=$(FUZZ_SANITIZE) CFLAGS="-fsanitize=fuzzer-no-link -Wno-pass-failed -O1" \
	    $(addprefix $(BUILD)/fuzz/libfuzzer/,$(FUZZ))
	$(Q)BUILD=$(BUILD) SECONDS_EACH=$(FUZZ_SECONDS) sh tests/fuzz/fuzz.sh $(FUZZ)

# Clang's sanitiser of bytes never written, on what passes through no library but protobuf-c's, and not through kernels of
# vectors: these multiply bytes behind a row by weights that are 0.
.PHONY: fuzz-memory
WRITTEN := $(addprefix fuzz_,mona om npy tensor onnx external int8) \
    $(addprefix test_,model lines planes session stream changed plan_record arrays array_float array_records formats compiler)
fuzz-memory: deps
	$(call need,clang)
	$(Q)$(MAKE) --no-print-directory CC='$(if $(findstring clang,$(CC)),$(CC),clang)' BUILD=$(BUILD)/memory SANITIZE=memory CFLAGS="-O1 -Wno-pass-failed" \
	    $(addprefix $(BUILD)/memory/tests/,$(WRITTEN))
	$(Q)for t in $(WRITTEN); do echo "$$t:" && CMOCKA_MESSAGE_OUTPUT=TAP MONA_TEST_SHARE=12 $(BUILD)/memory/tests/$$t || exit 1; done

# RUNS of pictures through libraries that are sanitised, too: LIBRARIES is the folder of tests/fuzz/libraries.sh.
.PHONY: fuzz-pixels
fuzz-pixels: deps
	$(call need,clang)
	$(Q)$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/pixels SANITIZE=memory CFLAGS="-fsanitize=fuzzer-no-link -Wno-pass-failed -O1" \
	    FUZZ_ENGINE="-fsanitize=fuzzer -rdynamic" $(BUILD)/pixels/libfuzzer/pixels
	$(Q)mkdir -p $(BUILD)/fuzz/corpus/pixels
	$(Q)LD_LIBRARY_PATH=$(LIBRARIES)/lib $(BUILD)/pixels/libfuzzer/pixels -runs=$(or $(RUNS),1000000) -max_len=512 -entropic=0 -use_counters=0 \
	    -artifact_prefix=$(BUILD)/fuzz/pixels- -print_final_stats=1 $(BUILD)/fuzz/corpus/pixels $$(. tests/fuzz/corpora.sh && corpora pixels)

# Readers of pictures, whose libraries are not sanitised: CHANGES=N of each file of the corpus.
.PHONY: fuzz-valgrind
fuzz-valgrind: deps $(BUILD)/tests/fuzz_still $(BUILD)/tests/fuzz_metadata
	$(call need,valgrind)
	$(Q)BUILD=$(BUILD) CHANGES=$(or $(CHANGES),400) sh tests/fuzz/valgrind.sh still metadata

# How much of each reader the targets reach, with the inputs that make fuzz has kept.
.PHONY: fuzz-coverage
fuzz-coverage: deps
	$(call need,clang llvm)
	$(Q)$(MAKE) --no-print-directory CC=clang BUILD=$(BUILD)/coverage SANITIZE= LDFLAGS=-fprofile-instr-generate \
	    CFLAGS="-fprofile-instr-generate -fcoverage-mapping -Wno-pass-failed -O1" $(addprefix $(BUILD)/coverage/tests/fuzz_,$(FUZZ))
	$(Q)BUILD=$(BUILD) sh tests/fuzz/coverage.sh $(FUZZ)

# TIER: short or full (tests/tiers).
PROGRAMS := $(UNIT) $(addprefix $(BUILD)/tests/fuzz_,$(FUZZ)) $(BUILD)/tests/checkops $(BUILD)/tests/published \
    $(if $(filter x86_64,$(ARCH)),$(BUILD)/tests/checkops_tiles)
# What libraries leak (tests/leaks.txt).
ifneq ($(filter-out thread memory,$(SANITIZE)),)
$(BUILD)/mona $(UNIT) $(addprefix $(BUILD)/tests/fuzz_,$(FUZZ)): $(BUILD)/tests/leaks.o
$(BUILD)/tests/leaks.o: tests/leaks.txt
endif
# Where TESTS names some, only the programs among them are linked.
NAMED := $(filter-out -%,$(TESTS))
CHOSEN := $(if $(NAMED),$(foreach p,$(PROGRAMS),$(if $(strip $(foreach n,$(NAMED),$(findstring $n,$(notdir $p)))),$p)),$(PROGRAMS))
check: all $(addprefix $(BUILD)/,judge_networks scene neutral classifiers operators firmware camera_host unobserved/firmware first_light) $(FAKES) $(FAKE_DVPP) $(CHOSEN)
	$(Q)BUILD=$(BUILD) CC='$(CC)' SANITIZE='$(SANITIZE)' TIER='$(TIER)' PROGRAMS='$(CHOSEN)' sh tests/run.sh $(TESTS)

# The engine and its kernels on emulated ARMv8-A. On such a machine, `make check` tests more.
check-aarch64: $(addprefix $(BUILD)/,mona firmware operators classifiers)
	$(Q)if ! command -v $(CROSS_CC) > /dev/null || ! command -v qemu-aarch64-static > /dev/null; then \
	    echo '# skip: no $(CROSS_CC) or no qemu-aarch64-static'; echo '0 passed, 0 failed, 1 skipped'; \
	else \
	    $(MAKE) --no-print-directory CC=$(CROSS_CC) BUILD=$(BUILD)/aarch64 LDFLAGS=-static SANITIZE= PKG_CFLAGS= \
	        $(BUILD)/aarch64/firmware $(BUILD)/aarch64/tests/checkops && \
	    BUILD=$(BUILD) SCRIPTS='tests/aarch64.sh tests/e2e/engine/emitted.sh' CROSS=aarch64 CC=$(CROSS_CC) sh tests/run.sh aarch64 emitted; \
	fi

# The same for ARMv7-A with NEON.
check-armv7: $(addprefix $(BUILD)/,mona firmware operators classifiers)
	$(Q)if ! command -v $(firstword $(ARMV7_CC)) > /dev/null || ! command -v qemu-arm-static > /dev/null; then \
	    echo '# skip: no $(firstword $(ARMV7_CC)) or no qemu-arm-static'; echo '0 passed, 0 failed, 1 skipped'; \
	else \
	    $(MAKE) --no-print-directory CC='$(ARMV7_CC)' BUILD=$(BUILD)/armv7 LDFLAGS=-static SANITIZE= PKG_CFLAGS= \
	        $(BUILD)/armv7/firmware $(BUILD)/armv7/tests/checkops && \
	    BUILD=$(BUILD) SCRIPTS='tests/armv7.sh tests/e2e/engine/emitted.sh' CROSS=armv7 CC='$(ARMV7_CC)' sh tests/run.sh armv7 emitted; \
	fi

# The same for RV64GC with the vector extension, in registers of three lengths. GNU ld 2.40 does not know all that clang 19
# writes of its debugging information.
RVV_CC := $(firstword $(foreach c,clang-19 clang-18 clang-17,$(if $(shell command -v $c),$c)) clang) --target=riscv64-linux-gnu
check-rvv:
	$(Q)if ! $(RVV_CC) -march=rv64gcv -include riscv_vector.h -E -xc /dev/null > /dev/null 2>&1 || \
	    ! command -v riscv64-linux-gnu-gcc > /dev/null || ! command -v qemu-riscv64-static > /dev/null; then \
	    echo '# skip: no clang 17 or later, no riscv64-linux-gnu-gcc or no qemu-riscv64-static'; echo '0 passed, 0 failed, 1 skipped'; \
	else \
	    $(MAKE) --no-print-directory CC='$(RVV_CC)' AR=riscv64-linux-gnu-ar BUILD=$(BUILD)/rvv CFLAGS='-g0 -Wno-pass-failed' \
	        LDFLAGS=-static SANITIZE= PKG_CFLAGS= $(BUILD)/rvv/tests/checkops && \
	    BUILD=$(BUILD) SCRIPTS=tests/rvv.sh sh tests/run.sh rvv; \
	fi

# This build on emulated CPUs that lack instructions of this one.
check-cpus: all $(BUILD)/scene $(UNIT) $(BUILD)/tests/checkops
	$(Q)if [ '$(ARCH)' != x86_64 ] || ! command -v qemu-x86_64-static > /dev/null; then \
	    echo '# skip: no x86-64 or no qemu-x86_64-static'; echo '0 passed, 0 failed, 1 skipped'; \
	else BUILD=$(BUILD) SCRIPTS=tests/cpus.sh sh tests/run.sh cpus.sh; fi

# A bare Debian 13, with its gcc 14, FFmpeg 7 and GStreamer.
check-trixie:
	$(Q)if ! command -v debootstrap > /dev/null || [ "$$(id -u)" != 0 ] || ! sh tests/bare_root.sh trixie true; then \
	    echo '# skip: no root, no debootstrap or no Debian mirror'; echo '0 passed, 0 failed, 1 skipped'; \
	else \
	    sh tests/bare_root.sh trixie 'make gstreamer-deps test-deps' 'make -s -j$$(nproc) WERROR=1 all gstreamer' 'make -s WERROR=1 test'; \
	fi

# For every change, in minutes: the short tier of one build.
test: test-deps
	$(Q)$(MAKE) --no-print-directory -j"$$(nproc)" check TIER=short

# Everything: the full tier, also with clang and sanitisers, browsers, other CPUs. The last line adds up the results.
test-full: test-full-deps
	$(Q)sh tests/all.sh

# Packages of npm, in the build folder: ONNX Runtime, and a reader of MP4.
npm_install = test -d $(BUILD)/bench/node_modules/$(1) || { mkdir -p $(BUILD)/bench && \
    npm install --prefix $(BUILD)/bench --ignore-scripts --no-audit --no-fund --silent $(1); }
INSTALL_ORT = $(call npm_install,onnxruntime-node)

# Comparisons with ONNX Runtime, which npm installs into the build folder, and with oneDNN, layer by layer.
bench-peers: deps
	$(call need,python3 python3-onnx python3-numpy libdnnl-dev $(if $(shell command -v npm),,nodejs npm))
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/scene
	@mkdir -p $(BUILD)/bench
	$(Q)$(INSTALL_ORT)
	$(Q)/usr/bin/python3 tests/bench/peers.py $(BUILD)
	$(Q)$(CC) -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -o $(BUILD)/bench/onednn tests/bench/onednn.c -ldnnl
	$(Q)/usr/bin/python3 tests/bench/layers.py $(BUILD)

# Beside onnx2c on emulated controllers: ONNX2C=FOLDER, and CMSIS_NN=FOLDER for its kernels.
.PHONY: bench-firmware firmware-costs
bench-firmware: all
	$(Q)unset MAKEFLAGS MFLAGS; BUILD='$(BUILD)' ONNX2C='$(ONNX2C)' CMSIS_NN='$(CMSIS_NN)' sh tests/bench/firmware_peers.sh

# What mona inspect --firmware tells of networks, measured anew on all boards, or those of FIRMWARE_BOARDS, and then looked at.
FIRMWARE_BOARDS ?= an386 an505 an500 an547 virt virt-dot virt-i8mm rv32 rv64 rv64v
firmware-costs: all $(BUILD)/operators $(BUILD)/array_costs
	$(Q)unset MAKEFLAGS MFLAGS; for board in $(FIRMWARE_BOARDS); do \
	    $(MAKE) --no-print-directory -f apps/firmware/Makefile BOARD=$$board BUILD=$(BUILD)/boards MONA=$(BUILD)/mona parts || exit 1; \
	done
	$(Q)/usr/bin/python3 tests/boards/networks.py costs $(BUILD)/mona $(BUILD) $$(echo $(FIRMWARE_BOARDS) | tr ' ' ,)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)/usr/bin/python3 tests/boards/networks.py check $(BUILD)/mona $(BUILD) $$(echo $(FIRMWARE_BOARDS) | tr ' ' ,) sr_x2_tiny:64x48 \
	    sr_x2_fast:160x120 sr_x3_fast:48x36 sr_x4_fast:64x24 denoise_fast:96x64 denoise_balanced:48x32 sr_x2_balanced:40x32 sr_x3_balanced:32x24

# Fails where this build is slower than the one in the folder AGAINST.
bench-gate:
	$(Q)test -x '$(AGAINST)/mona' || { echo 'make bench-gate: expected AGAINST=FOLDER, the build folder to compare with; found no $(AGAINST)/mona'; exit 1; }
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/scene
	$(Q)/usr/bin/python3 tests/bench/gate.py '$(AGAINST)' $(BUILD)

# The table of docs/benchmark.md: the built-in models, timed on this machine.
.PHONY: bench-table
bench-table: all
	@/usr/bin/python3 tests/bench/table.py $(BUILD)

# Published speeds of networks on the 310, compared with the time model's.
$(BUILD)/tests/published: $(call obj,tests/bench/published.c $(wildcard tests/bench/published/*.c)) $(addprefix $(BUILD)/,formats/file.o formats/error.o) $(ARCHIVES)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -pthread -lm

bench-published: $(BUILD)/tests/published
	$(Q)$(BUILD)/tests/published --report

# Holds what engine/ascend declares against the headers of an installed CANN: ACL_INCLUDE=FOLDER.
check-acl-headers:
	$(Q)CC='$(CC)' sh tests/ascend/check_headers.sh '$(ACL_INCLUDE)'

# Holds the kernels for AI Cores against the intrinsics that a kit's emulation library declares: TIKICPULIB=FOLDER.
check-kernel-headers:
	$(Q)BUILD='$(BUILD)' sh tests/ascend/check_kernel_headers.sh '$(TIKICPULIB)'

# Holds what model310 enforces of instructions against what TIK checks: TIK=FOLDER, python/site-packages/tbe/tik of a kit.
check-tik:
	$(Q)BUILD='$(BUILD)' CC='$(CC)' sh tests/ascend/check_tik.sh '$(TIK)'

# Holds instructions of AI Cores against the simulator inside AKG, a shared library that you have: CSIM=FILE.
check-csim:
	$(Q)BUILD='$(BUILD)' CC='$(CC)' sh tests/ascend/check_csim.sh '$(CSIM)'

# What this build is made of.
.PHONY: sbom
sbom: all
	$(Q)sh apps/static/sbom.sh $(BUILD) $(VERSION) '$(PKG_CONFIG)' $(LIBRARIES) $(SODIUM) > $(BUILD)/mona-$(VERSION).spdx.part
	$(Q)mv $(BUILD)/mona-$(VERSION).spdx.part $(BUILD)/mona-$(VERSION).spdx

# Versions of clang-format differ in details; Debian 12's is used.
.PHONY: format-check
FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format))
format-check:
	$(Q)$(or $(FORMAT),clang-format) --version | grep -q 'version 14\.' || \
	    { echo 'make format-check needs clang-format 14 (FORMAT=clang-format-14)'; exit 2; }
	$(Q)git ls-files -z '*.c' '*.h' | xargs -0 $(FORMAT) --dry-run -Werror

# ---- the rest ---------------------------------------------------------------------------------
# Files generated from the option tables, and the folders where they are looked for.
MAN := share/man/man1/mona.1
BASH_COMPLETION := share/bash-completion/completions/mona
ZSH_COMPLETION := share/zsh/site-functions/_mona
# A build for another machine cannot run its own mona: HELP_MONA names another one that writes these three files;
# without it they are left out.
HELP_MONA ?= $(if $(filter $(ARCH),$(shell uname -m)),$(BUILD)/mona)
HELP := $(if $(HELP_MONA),$(addprefix $(BUILD)/gen/,mona.1 mona.bash _mona))

$(BUILD)/gen/mona.1: HELP_OF := --man
$(BUILD)/gen/mona.bash: HELP_OF := --completion bash
$(BUILD)/gen/_mona: HELP_OF := --completion zsh
$(HELP): $(BUILD)/mona
	$(Q)$(HELP_MONA) help $(HELP_OF) > $@
$(BUILD)/gen/mona.pc: engine/mona.h Makefile always
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' 'Name: mona' \
	    'Description: Inference engine for the Ascend 310 and for CPUs' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir} -I$${includedir}/mona' 'Libs: -L$${libdir} -lmona' 'Libs.private: -pthread' > $@

$(BUILD)/gen/mona-config-version.cmake: engine/mona.h Makefile
	@mkdir -p $(@D)
	@printf '%s\n' 'set(PACKAGE_VERSION $(VERSION))' 'if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)' \
	    '    set(PACKAGE_VERSION_COMPATIBLE TRUE)' 'endif()' > $@


$(BUILD)/gen/monavideo.pc: engine/mona.h Makefile always
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' 'Name: monavideo' \
	    'Description: Enlarges and cleans frames and videos' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lmonavideo' > $@

# What networks as C include besides mona.h.
NET_HEADERS = $(filter-out engine/mona.h,$(filter %.h,$(shell $(CC) -I. -Iengine -MM engine/run/plan.h)))

# Programs beside mona: cameras of one machine, films and cameras of many.
SCRIPTS := apps/service/mona-cameras apps/cluster/mona-plan apps/cluster/mona-slurm apps/cluster/mona-task

install: all $(HELP) $(GST_PLUGIN) $(BUILD)/libmona.so $(addprefix $(BUILD)/gen/,mona.pc monavideo.pc mona-config-version.cmake)
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(BUILD)/mona $(SCRIPTS)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include engine/mona.h engine/mona_op.h engine/mona_ascend.h
	for h in $(NET_HEADERS); do install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/mona/$$h || exit 1; done
	install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(ARCHIVES)
	install -D -m 644 $(BUILD)/libmona.so $(DESTDIR)$(LIBDIR)/libmona.so.$(VERSION)
	ln -sf libmona.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libmona.so
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/cmake/mona engine/mona-config.cmake $(BUILD)/gen/mona-config-version.cmake
	install -D -m 644 pipeline/monavideo.h $(DESTDIR)$(PREFIX)/include/monavideo.h
	install -D -m 644 $(BUILD)/libmonavideo.so $(DESTDIR)$(LIBDIR)/libmonavideo.so.$(VERSION)
	ln -sf libmonavideo.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(VIDEO_SONAME)
	ln -sf $(VIDEO_SONAME) $(DESTDIR)$(LIBDIR)/libmonavideo.so
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/pkgconfig $(BUILD)/gen/mona.pc $(BUILD)/gen/monavideo.pc
	install -D -m 644 -t $(DESTDIR)$(PYTHONDIR)/mona $(PYTHON_SRC)
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	install -m 644 apps/service/mona@.service apps/service/mona-scrape.service apps/service/mona-scrape.timer $(DESTDIR)$(PREFIX)/lib/systemd/system
	$(if $(GST_PLUGIN),install -D -m 644 -t $(DESTDIR)$(GST_DIR) $(GST_PLUGIN))
ifneq ($(HELP),)
	install -D -m 644 $(BUILD)/gen/mona.1 $(DESTDIR)$(PREFIX)/$(MAN)
	install -D -m 644 $(BUILD)/gen/mona.bash $(DESTDIR)$(PREFIX)/$(BASH_COMPLETION)
	install -D -m 644 $(BUILD)/gen/_mona $(DESTDIR)$(PREFIX)/$(ZSH_COMPLETION)
else
	@echo 'Without a manual page and completions: this machine cannot run the mona that was built; give HELP_MONA.'
endif

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,mona $(notdir $(SCRIPTS))) \
	    $(addprefix $(DESTDIR)$(PREFIX)/,include/mona.h include/mona_op.h include/mona_ascend.h include/monavideo.h $(MAN) $(BASH_COMPLETION) $(ZSH_COMPLETION)) \
	    $(addprefix $(DESTDIR)$(LIBDIR)/,$(notdir $(ARCHIVES)) libmona.so libmona.so.$(VERSION) $(SONAME) libmonavideo.so \
	    libmonavideo.so.$(VERSION) $(VIDEO_SONAME) pkgconfig/mona.pc pkgconfig/monavideo.pc \
	    cmake/mona/mona-config.cmake cmake/mona/mona-config-version.cmake) \
	    $(addprefix $(DESTDIR)$(PYTHONDIR)/mona/,$(notdir $(PYTHON_SRC))) \
	    $(DESTDIR)$(GST_DIR)/libgstmona.so \
	    $(addprefix $(DESTDIR)$(PREFIX)/lib/systemd/system/,mona@.service mona-scrape.service mona-scrape.timer)
	rm -rf $(DESTDIR)$(PREFIX)/include/mona

dist:
	@mkdir -p $(BUILD)
	$(Q)git archive --format=tar --prefix=mona-$(VERSION)/ HEAD | gzip -n9 > $(BUILD)/mona-$(VERSION).tar.gz
	@echo '$(BUILD)/mona-$(VERSION).tar.gz'

clean:
	rm -rf $(BUILD) demo

-include $(shell find $(addprefix $(BUILD)/,apps engine formats gen models ops pipeline tests unobserved) -name '*.d' 2>/dev/null)
