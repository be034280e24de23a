"""Tests of check_includes.py: that it finds each kind of forbidden include, and nothing else."""
import unittest

import check_includes

TABLE = check_includes.read_table("""
pterun_room(base LIBS pthreadpool)
pterun_room(tensor DEPENDS base LIBS json)
pterun_room(backends/xnnpack_payload DEPENDS base tensor LIBS flatbuffers)
pterun_room(backends/xnnpack DEPENDS base tensor backends/xnnpack_payload LIBS xnnpack)
""")


def check(path, *lines):
    return check_includes.check_file(path, "\n".join(lines), TABLE)


class CheckIncludes(unittest.TestCase):
    def test_reads_rooms_and_libraries(self):
        self.assertEqual(TABLE["tensor"], ({"base"}, {"json"}))

    def test_allows_own_room_given_room_std_and_given_library(self):
        self.assertEqual(check("tensor/io/npy.cpp", '#include "tensor/io/npy.h"', '#include "base/error.h"',
                               "#include <vector>", "#include <fmt/format.h>", "#include <nlohmann/json.hpp>"), [])

    def test_names_file_line_and_forbidden_room(self):
        (message,) = check("base/error.h", "#pragma once", '#include "tensor/tensor.h"')
        self.assertIn("lib/base/error.h:2", message)
        self.assertIn("tensor/tensor.h", message)

    def test_refuses_a_library_that_the_room_does_not_have(self):
        for header in ("<xnnpack.h>", "<zip.h>", "<CLI/CLI.hpp>", '"flatbuffers/flatbuffers.h"', "<cpuinfo.h>"):
            self.assertEqual(len(check("tensor/tensor.cpp", f"#include {header}")), 1, header)

    def test_tells_a_room_from_another_that_begins_with_its_name(self):
        self.assertEqual(check("backends/xnnpack/graph.cpp", '#include "backends/xnnpack_payload/payload.h"'), [])
        self.assertEqual(len(check("backends/xnnpack_payload/payload.cpp", '#include "backends/xnnpack/graph.h"')), 1)

    def test_refuses_code_generated_for_another_room(self):
        header = '#include "generated/backends/xnnpack_payload/payload_generated.h"'
        self.assertEqual(check("backends/xnnpack_payload/payload.cpp", header), [])
        self.assertEqual(len(check("backends/xnnpack/graph.cpp", header)), 1)

    def test_refuses_relative_paths_tests_and_files_outside_rooms(self):
        self.assertEqual(len(check("base/error.cpp", '#include "../base/error.h"')), 1)
        self.assertEqual(len(check("base/error.cpp", '#include "support/stub.h"')), 1)
        self.assertEqual(len(check("elsewhere/error.cpp")), 1)


if __name__ == "__main__":
    unittest.main()
