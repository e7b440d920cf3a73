# SPDX-License-Identifier: Apache-2.0
# find_package(mona) defines: mona::mona, the shared library; mona::runtime, mona::plan and mona::model310, the
# archives, each with those that it needs.
get_filename_component(mona_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_path(mona_INCLUDE_DIR mona.h HINTS "${mona_lib}/../include" "${mona_lib}/../../include" NO_CACHE REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
include(CMakeFindDependencyMacro)
find_dependency(Threads)

function(mona_add target kind file)
    if(TARGET mona::${target} OR NOT EXISTS "${mona_lib}/${file}")
        return()
    endif()
    add_library(mona::${target} ${kind} IMPORTED)
    set_target_properties(mona::${target} PROPERTIES IMPORTED_LOCATION "${mona_lib}/${file}"
                          INTERFACE_INCLUDE_DIRECTORIES "${mona_INCLUDE_DIR};${mona_INCLUDE_DIR}/mona"
                          INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()
mona_add(mona SHARED libmona.so)
mona_add(runtime STATIC libmona.a Threads::Threads)
mona_add(plan STATIC libmona-plan.a mona::runtime)
mona_add(model310 STATIC libmona-model310.a mona::plan)
