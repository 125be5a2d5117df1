"""One text through `fhelium-opt`: parse, verify, run the pipeline, print, check diagnostics."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import PassObserver, Pipeline
from fhelium_ir.compiler.remarks import Remark, collect_remarks
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.frontends.frontend import make_frontend
from fhelium_ir.tools.inspection import (
    ChangePrinter,
    Dumper,
    IrPrinter,
    SnapshotTaker,
    printer_of_broken_ir,
)
from fhelium_ir.tools.inspection_options import InspectionOptions
from fhelium_ir.tools.pass_reports import Statistics, Timer

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

PAGE_TARGET = "html"
"""The target that shows every stage: it needs a snapshot after each pass."""


@dataclass(frozen=True)
class Job:
    """What to do with each text: a file name, a pipeline, a target by name and as a function."""

    file: str
    pipeline: Pipeline
    target_name: str
    target: universe.Target
    verify_each: bool
    options: InspectionOptions
    dump_dir: Path | None = None
    frontend: str = "mlir"


@dataclass(frozen=True)
class Outcome:
    """The printed result, or None after an error, and all errors to report."""

    output: str | None
    errors: tuple[Exception, ...]


def check_pass_names(options: InspectionOptions, pipeline: Pipeline) -> None:
    """Raises FheliumError for a pass to print that does not exist or does not run."""
    for name in (*options.print_ir_before, *options.print_ir_after):
        pipeline.position(name)


def compile_text(text: str, job: Job) -> Outcome:
    """Compile one text; reports and remarks go to standard error."""
    options = job.options
    unheard = not (
        options.remarks is not None or options.pass_statistics or job.target_name == PAGE_TARGET
    )
    timer = Timer()
    output: str | None = None
    failure: Exception | None = None
    with collect_remarks(warnings_only=unheard) as remarks:
        statistics = Statistics(remarks)
        try:
            output = _run(text, job, remarks, statistics, timer)
        except Exception as error:
            failure = error
    wanted = [r for r in remarks if r.kind == "warning" or options.remarks in ("all", r.kind)]
    errors: Sequence[Exception] = () if failure is None else (failure,)
    if options.verify_diagnostics:
        errors = _check_diagnostics(text, job.file, failure, wanted)
    else:
        for remark in wanted:
            print(remark, file=sys.stderr)
    if options.pass_statistics:
        sys.stderr.write(statistics.report())
    if options.time_passes:
        sys.stderr.write(timer.report())
    return Outcome(output, tuple(errors))


def _run(text: str, job: Job, remarks: list[Remark], statistics: Statistics, timer: Timer) -> str:
    context = universe.make_context()
    with timer.stage("parse"):
        module = make_frontend(job.frontend).read(text, job.file).module
    with timer.stage("verify the input"):
        verify_module(module)
    taker = SnapshotTaker()
    observers = _observers(job, statistics, timer, taker)
    with timer.stage("pipeline"):
        job.pipeline.run(context, module, verify_each=job.verify_each, observers=observers)
    with timer.stage("output"):
        stream = StringIO()
        if job.target_name == PAGE_TARGET:
            from fhelium_ir.tools.html_page import write_page

            write_page(job.file, taker.all_stages(module), remarks, stream)
        else:
            _print_target(job, module, stream)
    return stream.getvalue()


def _observers(
    job: Job, statistics: Statistics, timer: Timer, taker: SnapshotTaker
) -> list[PassObserver]:
    options = job.options
    printed = printer_of_broken_ir(options.print_loc)
    observers: list[PassObserver] = []
    if options.crash_reproducer is not None:
        from fhelium_ir.tools.reproducer import ReproducerWriter

        observers.append(ReproducerWriter(options.crash_reproducer, job.verify_each))
    if job.target_name == PAGE_TARGET:
        observers.append(taker)
    before = None if options.print_ir_before_all else options.print_ir_before
    after = None if options.print_ir_after_all else options.print_ir_after
    if before != [] or after != []:
        observers.append(IrPrinter(printed, before, after))
    if options.print_ir_after_change:
        observers.append(ChangePrinter(printed))
    if job.dump_dir is not None:
        observers.append(Dumper(printed, job.dump_dir))
    if options.pass_statistics:
        observers.append(statistics)
    observers.append(timer)
    return observers


def _print_target(job: Job, module: ModuleOp, stream: StringIO) -> None:
    try:
        job.target(module, stream)
    except (FheliumError, RecursionError):
        raise
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        raise FheliumError(
            f"target '{job.target_name}' failed: internal error: {detail}"
        ) from error


def _check_diagnostics(
    text: str, file: str, failure: Exception | None, remarks: Sequence[Remark]
) -> list[Exception]:
    from fhelium_ir.tools.expectations import diagnostics_of, mismatches, read_expectations

    if failure is not None and not isinstance(failure, FheliumError):
        return [failure]
    try:
        expectations = read_expectations(text, file)
    except FheliumError as error:
        return [error]
    return list(mismatches(file, expectations, diagnostics_of(file, failure, remarks)))
