"""One run of a family, shared by the tests of its file."""

from __future__ import annotations

import json

import pytest

from proofs_check.engines import ENGINES
from proofs_check.report import report_document
from proofs_check.verify import Options, claim_directory, verify


@pytest.fixture(scope="module")
def run(request, tmp_path_factory):
    """(options, results by id, report) of the test module's `IDS`, without Rocq."""
    options = Options(tmp_path_factory.mktemp("family"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(ENGINES, "formal")
        results = verify(request.module.IDS, options)
    return options, {result.claim.id: result for result in results}, report_document(results, options)


@pytest.fixture
def searches(run):
    """Each part with the numbers of examples that the searches for it recorded."""
    options, results, _ = run
    records = {
        name: [json.loads(path.read_text()) for path in claim_directory(options, name).glob("cert-search-*.json")]
               for name in results}
    return [(part, [int(record["body"]["examples"]) for record in records[name] if record["target"] == part.name])
            for name, result in results.items() for part in result.claim.parts]


@pytest.fixture
def unneeded(run):
    """(claim, part, name) of the hypotheses without an accepted counterexample; parameters' bounds list none."""
    return {(row["id"], item["part"], item["name"]) for row in run[2]["claims"] for item in row["hypotheses"]
            if item["needed"] != "needed" and item["kind"] != "bound"}
