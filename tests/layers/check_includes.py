#!/usr/bin/env python3
"""usage: check_includes.py ROOT

Fails when a file of lib/ includes a room or an outside header that the table in lib/CMakeLists.txt
(pterun_room(<room> DEPENDS <rooms> LIBS <outside libraries>)) does not give to its room.
The table in docs/architecture.md is the same one in prose.
"""
import pathlib
import re
import sys

# Outside headers by library: the name in LIBS, and how its headers begin. std, POSIX and fmt are free everywhere.
OUTSIDE = {
    "xnnpack": ("xnnpack.h", "xnnpack/", "experiments-config.h"),
    "pthreadpool": ("pthreadpool.h",),
    "cpuinfo": ("cpuinfo.h",),
    "flatbuffers": ("flatbuffers/",),
    "json": ("nlohmann/",),
    "libzip": ("zip.h", "zipconf.h"),
    "cli11": ("CLI/",),
    "catch2": ("catch2/", "catch.hpp"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
ROOM = re.compile(r"^pterun_room\(([^)]*)\)", re.MULTILINE)


def read_table(text):
    """{room: (rooms it may include, outside libraries it may include)} from lib/CMakeLists.txt."""
    table = {}
    for match in ROOM.finditer(text):
        words = match.group(1).split()
        lists = {"DEPENDS": [], "LIBS": []}
        current = None
        for word in words[1:]:
            if word in lists:
                current = lists[word]
            else:
                current.append(word)
        table[words[0]] = (set(lists["DEPENDS"]), set(lists["LIBS"]))
    return table


def room_of(path, rooms):
    """The room that a path below lib/ belongs to: the longest one that it starts with."""
    found = [room for room in rooms if path.startswith(room + "/")]
    return max(found, key=len) if found else None


def outside_library(header):
    for library, beginnings in OUTSIDE.items():
        for beginning in beginnings:
            if header == beginning or (beginning.endswith("/") and header.startswith(beginning)):
                return library
    return None


def check_file(path, text, table):
    """Messages about one file; path is relative to lib/."""
    room = room_of(path, table)
    if room is None:
        return [f"lib/{path}: lies in no room of lib/CMakeLists.txt"]
    rooms, libraries = table[room]
    messages = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1) or match.group(2)
        where = f"lib/{path}:{number}: {room} must not include"
        if match.group(1) and header.startswith("."):
            messages.append(f"lib/{path}:{number}: include by the full path from lib/, not {header}")
            continue
        own = header[len("generated/"):] if header.startswith("generated/") else header
        # Our own headers are quoted; XNNPACK's "xnnpack/..." never is, nor is it installed.
        target = room_of(own, table) if match.group(1) else None
        if target is not None:
            if target != room and target not in rooms:
                messages.append(f"{where} the room {target} ({header})")
            elif target != room and own != header:
                messages.append(f"{where} code generated for {target} ({header})")
            continue
        library = outside_library(header)
        if library is not None and library not in libraries:
            messages.append(f"{where} {library} ({header})")
        elif header.startswith("support/") or header.startswith("pterun/"):
            messages.append(f"{where} {header}: lib/ uses neither tests nor applications")
    return messages


def check_tree(root):
    lib = pathlib.Path(root) / "lib"
    table = read_table((lib / "CMakeLists.txt").read_text())
    messages = []
    count = 0
    for path in sorted(lib.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        count += 1
        messages += check_file(path.relative_to(lib).as_posix(), path.read_text(), table)
    return messages, count, table


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    messages, count, table = check_tree(sys.argv[1])
    for message in messages:
        print(message)
    print(f"{count} files in {len(table)} rooms, {len(messages)} forbidden includes")
    sys.exit(1 if messages or not table else 0)


if __name__ == "__main__":
    main()
