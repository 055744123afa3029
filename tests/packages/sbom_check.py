"""The rules of SPDX 2.3 for what scripts/sbom writes: which properties a document has, and of what kind."""

import re

ALGORITHMS = {"SHA1": 40, "SHA256": 64, "SHA384": 96, "SHA512": 128}
RELATIONS = {"DESCRIBES", "DEPENDS_ON", "BUILD_DEPENDENCY_OF", "CONTAINS"}
PACKAGE_KEYS = {"SPDXID", "name", "versionInfo", "packageFileName", "supplier", "downloadLocation", "filesAnalyzed",
                "licenseConcluded", "licenseDeclared", "copyrightText", "checksums", "externalRefs", "sourceInfo"}


def package_problems(package):
    problems = []
    name = package.get("name", "?")
    for key in ("SPDXID", "name", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText", "versionInfo"):
        if not isinstance(package.get(key), str) or not package[key]:
            problems.append(f"{name} has no {key}")
    if set(package) - PACKAGE_KEYS:
        problems.append(f"{name}: {set(package) - PACKAGE_KEYS} is no property of a package")
    if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package.get("SPDXID", "")):
        problems.append(f"{name}: the id has other characters")
    if package.get("filesAnalyzed") is not False:
        problems.append(f"{name}: files are listed nowhere")
    if not re.fullmatch(r"NOASSERTION|(Organization|Person): \S.*", package.get("supplier", "NOASSERTION")):
        problems.append(f"{name}: a supplier is an organisation or a person")
    for checksum in package.get("checksums", []):
        if len(checksum["checksumValue"]) != ALGORITHMS.get(checksum["algorithm"]) or not re.fullmatch("[0-9a-f]+", checksum["checksumValue"]):
            problems.append(f"{name}: {checksum} is no checksum")
    for reference in package.get("externalRefs", []):
        if set(reference) != {"referenceCategory", "referenceType", "referenceLocator"}:
            problems.append(f"{name}: {reference} is no reference")
        elif not re.fullmatch(r"pkg:(deb/debian|npm)/[^\s@]+@[^\s@]+", reference["referenceLocator"]):
            problems.append(f"{name}: {reference['referenceLocator']} is no purl")
    return problems


def problems_of(document):
    problems = []
    for key, value in (("spdxVersion", "SPDX-2.3"), ("dataLicense", "CC0-1.0"), ("SPDXID", "SPDXRef-DOCUMENT")):
        if document.get(key) != value:
            problems.append(f"{key} must be {value}")
    if not re.fullmatch(r"https?://[^\s#]+", document.get("documentNamespace", "")):
        problems.append("documentNamespace must be a URI without a fragment")
    created = document.get("creationInfo", {})
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created.get("created", "")) or not created.get("creators"):
        problems.append("creationInfo must say when and by what")
    packages = document.get("packages", [])
    ids = [package.get("SPDXID") for package in packages] + ["SPDXRef-DOCUMENT"]
    if len(set(ids)) != len(ids):
        problems.append("an id is there twice")
    for package in packages:
        problems += package_problems(package)
    for relation in document.get("relationships", []):
        for end in ("spdxElementId", "relatedSpdxElement"):
            if relation.get(end) not in ids:
                problems.append(f"{relation} leads nowhere")
        if relation.get("relationshipType") not in RELATIONS:
            problems.append(f"{relation} is of no known type")
    if not any(relation.get("relationshipType") == "DESCRIBES" for relation in document.get("relationships", [])):
        problems.append("it describes nothing")
    return problems
