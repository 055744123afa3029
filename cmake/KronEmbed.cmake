# kron_embed(OUTPUT DIRECTORY): a C++ source with the page in it, as kron/web/assets.h wants it: index.html, and what it
# names as /a/HASH/FILE, each without its indentation and lines that are a comment (web/build.mjs checks that they
# mean nothing) and compressed by gzip. No xxd and no linker's tricks: neither is everywhere.
if(CMAKE_SCRIPT_MODE_FILE)
  # What is sent of a file: its bytes in `variable`, and in `hash` what names them.
  function(compressed_bytes variable hash file)
    execute_process(COMMAND sed -e "s/^ *//" -e "\\,^// ,d" -e "\\,^/[*] .* [*]/$,d" ${file} OUTPUT_FILE ${OUTPUT}.sent COMMAND_ERROR_IS_FATAL ANY)
    file(SHA256 ${OUTPUT}.sent whole)
    string(SUBSTRING ${whole} 0 12 whole)
    set(${hash} ${whole} PARENT_SCOPE)
    execute_process(COMMAND gzip -9 -n -c ${OUTPUT}.sent OUTPUT_FILE ${OUTPUT}.gz COMMAND_ERROR_IS_FATAL ANY)
    file(READ ${OUTPUT}.gz hex HEX)
    file(REMOVE ${OUTPUT}.sent ${OUTPUT}.gz)
    string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    set(${variable} "${hex}" PARENT_SCOPE)
  endfunction()

  set(data "")
  set(rows "")
  file(READ ${DIRECTORY}/index.html index)
  foreach(file kron.js kron.css kron.svg)
    compressed_bytes(bytes hash ${DIRECTORY}/${file})
    string(REPLACE "/a/HASH/${file}" "/a/${hash}/${file}" index "${index}")
    string(MAKE_C_IDENTIFIER "${file}" name)
    set(type "text/javascript; charset=utf-8")
    if(file MATCHES "css$")
      set(type "text/css; charset=utf-8")
    elseif(file MATCHES "svg$")
      set(type "image/svg+xml")
    endif()
    string(APPEND data "constexpr unsigned char k_${name}[] = {\n${bytes}};\n")
    string(APPEND rows "    {\"/a/${hash}/${file}\", \"${type}\", \"\\\"${hash}\\\"\", page_bytes(k_${name}), true},\n")
  endforeach()
  file(WRITE ${OUTPUT}.html "${index}")
  compressed_bytes(bytes hash ${OUTPUT}.html)
  string(APPEND data "constexpr unsigned char k_index[] = {\n${bytes}};\n")
  string(APPEND rows "    {\"/\", \"text/html; charset=utf-8\", \"\\\"${hash}\\\"\", page_bytes(k_index), false},\n")
  file(REMOVE ${OUTPUT}.html)
  file(WRITE ${OUTPUT} "// Made by cmake/KronEmbed.cmake.
#include <array>
#include <cstddef>

#include \"kron/web/assets.h\"

namespace kron::web {
namespace {

${data}
template <std::size_t Size>
std::string_view page_bytes(const unsigned char (&bytes)[Size]) {
  return {reinterpret_cast<const char*>(bytes), Size};
}

}  // namespace

std::span<const Asset> assets() {
  static const std::array<Asset, 4> kAssets{{
${rows}  }};
  return kAssets;
}

}  // namespace kron::web
")
  return()
endif()

set(KRON_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(kron_embed output directory)
  set(files ${directory}/index.html ${directory}/kron.css ${directory}/kron.js ${directory}/kron.svg)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DDIRECTORY=${directory} -P ${KRON_EMBED_SCRIPT}
    DEPENDS ${files} ${KRON_EMBED_SCRIPT}
    COMMENT "Embedding the page"
    VERBATIM)
endfunction()
