"""The rules that JUnit XML must follow, as far as Ant's schema (JUnit.xsd) and that of Jenkins' xUnit plugin agree, written
down from their documentation; judged without looking at how pterun writes it."""

import re
import xml.etree.ElementTree as tree

SUITES = {"name": str, "tests": int, "failures": int, "errors": int, "time": float}
SUITE = {**SUITES, "package": str, "id": int, "skipped": int, "timestamp": str, "hostname": str}
SUITE_NEEDS = {"name", "tests", "failures", "errors", "time", "timestamp", "hostname", "package", "id"}
CASE = {"name": str, "classname": str, "time": float}
OUTCOMES = {"failure": {"message", "type"}, "error": {"message", "type"}, "skipped": {"message"}}


def attributes(element, allowed, needed):
    for name, value in element.attrib.items():
        if name not in allowed:
            yield f"<{element.tag}> has an unknown attribute {name}"
        elif allowed[name] is not str:
            try:
                if allowed[name](value) < 0:
                    yield f"<{element.tag} {name}={value}> is negative"
            except ValueError:
                yield f"<{element.tag} {name}={value}> is no {allowed[name].__name__}"
    for name in set(needed) - set(element.attrib):
        yield f"<{element.tag}> lacks {name}"


def case_problems(case):
    yield from attributes(case, CASE, CASE)
    if not case.get("name") or not case.get("classname"):
        yield "<testcase> has an empty name or classname"
    if len(case) > 1:
        yield "<testcase> has more than one outcome"
    for outcome in case:
        if outcome.tag not in OUTCOMES:
            yield f"<testcase> holds <{outcome.tag}>"
            continue
        needed = OUTCOMES[outcome.tag] - {"message"}
        yield from attributes(outcome, {name: str for name in OUTCOMES[outcome.tag]}, needed)
        if len(outcome):
            yield f"<{outcome.tag}> holds elements"


def suite_problems(suite):
    yield from attributes(suite, SUITE, SUITE_NEEDS)
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", "")):
        yield "timestamp is not ISO 8601 without a zone"
    order = [child.tag for child in suite]
    cases = suite.findall("testcase")
    if order != ["properties"] + ["testcase"] * len(cases) + ["system-out", "system-err"]:
        yield f"<testsuite> holds {order}"
    for item in suite.findall("properties/*"):
        if item.tag != "property" or set(item.attrib) != {"name", "value"} or len(item):
            yield "<properties> holds something else than <property name value>"
    names = [(case.get("classname"), case.get("name")) for case in cases]
    if len(names) != len(set(names)):
        yield "two cases have one name"
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        if int(suite.get(name, "0")) != len(suite.findall(f"testcase/{tag}")):
            yield f"{name} is not the number of <{tag}>"
    if int(suite.get("tests", "-1")) != len(cases):
        yield "tests is not the number of <testcase>"
    for case in cases:
        yield from case_problems(case)


def problems(text):
    """What is wrong with a document; empty when nothing is."""
    try:
        root = tree.fromstring(text)
    except tree.ParseError as error:
        return [f"not XML: {error}"]
    found = []
    if root.tag != "testsuites":
        return [f"the root is <{root.tag}>"]
    found += attributes(root, SUITES, {"name"})
    for suite in root:
        found += suite_problems(suite) if suite.tag == "testsuite" else [f"<testsuites> holds <{suite.tag}>"]
    for name in ("tests", "failures", "errors"):
        if int(root.get(name, "0")) != sum(int(suite.get(name, "0")) for suite in root):
            found.append(f"{name} of <testsuites> is not the sum over its suites")
    return found
