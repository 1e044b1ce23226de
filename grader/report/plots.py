"""Figures of results, drawn from a record and nothing else."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from grader.report import units
from grader.results import Climb, Profile

BLUE, RED, GREEN, GREY = "#1f6fb4", "#b3262a", "#2d7d46", "#b0b0b0"

ENGINES = ("host", "in", "compute", "out")


def ladder(result: Climb) -> Figure:
    """A point a rung at its time, on a logarithmic axis, with baselines and the bound as lines.

    Measured times are filled points with their 95 % interval, modelled ones are hollow.
    """
    rungs = [rung for rung in result.rungs if rung.time_s is not None]
    figure = Figure(figsize=(8, 1.5 + 0.4 * max(len(rungs), 1)), layout="constrained")
    axes = figure.add_subplot()
    for position, rung in enumerate(rungs):
        if rung.time_s is not None:
            _point(axes, position, rung.time_s, rung.time_source)
        if rung.time_low_s is not None and rung.time_high_s is not None:
            axes.hlines(position, rung.time_low_s, rung.time_high_s, color=BLUE)
    axes.set_yticks(range(len(rungs)), [rung.id for rung in rungs])
    axes.set_ylim(len(rungs) - 0.5, -0.5)
    for baseline in result.baselines:
        _line(axes, baseline.time_s, baseline.name, "measured", GREEN)
    if result.bound is not None:
        _line(axes, result.bound.time_s, f"{result.bound.by} bound", result.bound.source, RED)
    _decorate(axes, result)
    return figure


def save_ladder(result: Climb, path: Path) -> None:
    """Write the figure to `path`; its suffix chooses the format (png, svg, pdf)."""
    ladder(result).savefig(path, dpi=150)


def timeline(result: Profile) -> Figure:
    """A schedule's run as a Gantt chart: a row for the host and each engine, a colour for each stream."""
    figure = Figure(figsize=(10, 2.6), layout="constrained")
    axes = figure.add_subplot()
    for item in result.timeline:
        colour = GREY if item.engine == "host" else f"C{item.stream % 10}"
        length = 1e3 * (item.end_s - item.start_s)
        axes.barh(ENGINES.index(item.engine), length, left=1e3 * item.start_s, height=0.7, color=colour,
                  edgecolor="white", linewidth=0.3)  # fmt: skip
    axes.set_yticks(range(len(ENGINES)), ["host waits", "copy in", "compute", "copy out"])
    axes.set_ylim(len(ENGINES) - 0.5, -0.5)
    axes.set_xlabel(f"ms ({result.timeline_source})")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(f"{result.file}, {units.problem(result.problem)}, {result.device.name}", loc="left")
    return figure


def save_timeline(result: Profile, path: Path) -> None:
    """Write the figure to `path`; its suffix chooses the format (png, svg, pdf)."""
    timeline(result).savefig(path, dpi=150)


def _point(axes: Axes, position: int, time_s: float, source: str | None) -> None:
    face = "white" if source == "modelled" else BLUE
    axes.plot(time_s, position, "o", markersize=8, markeredgecolor=BLUE, markerfacecolor=face)
    label = units.seconds(time_s, source)
    axes.annotate(label, (time_s, position), (9, 0), textcoords="offset points", va="center", fontsize=9)


def _line(axes: Axes, time_s: float, name: str, source: str, colour: str) -> None:
    label = f"{name}: {units.seconds(time_s, source)}"
    axes.axvline(time_s, color=colour, linewidth=1.2, label=label)


def _decorate(axes: Axes, result: Climb) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: units.seconds(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.15)
    axes.grid(axis="both", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    sources = sorted({rung.time_source for rung in result.rungs if rung.time_source})
    how = f" ({' and '.join(sources)})" if sources else ""
    axes.set_title(f"{result.topic}, {units.problem(result.problem)}, {result.device.name}{how}", loc="left")
    if axes.get_legend_handles_labels()[0]:
        axes.figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
