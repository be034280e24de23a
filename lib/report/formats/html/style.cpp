// The page's style sheet. Colours are variables with a light and a dark value; one accent, three for verdicts. Widths
// come from the content, so that nothing is wider than a phone: what must be wide scrolls inside its own box.
#include "report/formats/html/sections.h"

namespace pterun::report::html {
namespace {

constexpr const char* kColors = R"(:root {
  color-scheme: light dark;
  --page: #fbfbfa; --sheet: #ffffff; --ink: #1b1e23; --soft: #5d6570; --rule: #e4e5e2; --faint: #f1f1ee;
  --accent: #2c5fb3; --accent-rgb: 44 95 179; --good: #1b7a4a; --bad: #b8322a; --mild: #76673c; --calm: #4c6480;
  --good-wash: #e3f2e9; --bad-wash: #fae7e5; --mild-wash: #f3efe1; --calm-wash: #e8edf3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14161a; --sheet: #1a1d22; --ink: #e7e8ea; --soft: #9aa2ad; --rule: #2d3138; --faint: #22262c;
    --accent: #82aaf0; --accent-rgb: 110 155 235; --good: #66c394; --bad: #f08a80; --mild: #cdb878; --calm: #9db4cf;
    --good-wash: #17301f; --bad-wash: #3a1d1b; --mild-wash: #2f2a1a; --calm-wash: #212b37;
  }
}
)";

constexpr const char* kText = R"(* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
main { max-width: 66rem; margin: 0 auto; padding: 3rem 1.5rem 5rem; }
h1 { margin: 0; font-size: 2.1rem; line-height: 1.15; font-weight: 650; letter-spacing: -0.02em; }
h2 { margin: 0 0 0.25rem; font-size: 1.25rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; }
p { margin: 0.25rem 0; }
code, pre, .hash { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.86em; }
pre { margin: 0.5rem 0; padding: 0.8rem 1rem; background: var(--faint); border-radius: 6px; white-space: pre-wrap; line-height: 1.55; }
section { margin-top: 3.25rem; padding-top: 1.1rem; border-top: 1px solid var(--rule); }
article { margin-top: 1.75rem; }
.lead { color: var(--soft); margin-bottom: 1rem; }
.note { color: var(--soft); font-size: 0.86rem; }
.kind { margin: 0 0 0.35rem; color: var(--soft); font-size: 0.86rem; font-weight: 600; letter-spacing: 0.04em; }
.verdict { display: inline-block; margin: 0.9rem 0 0.6rem; padding: 0.3rem 0.8rem; border-radius: 6px; }
.verdict b { letter-spacing: 0.03em; margin-right: 0.15rem; }
.verdict.good { color: var(--good); background: var(--good-wash); }
.verdict.bad { color: var(--bad); background: var(--bad-wash); }
.badge { display: inline-block; padding: 0.05rem 0.5rem; border-radius: 4px; font-size: 0.82rem; font-weight: 600; }
.badge.good { color: var(--good); background: var(--good-wash); }
.badge.bad { color: var(--bad); background: var(--bad-wash); }
.badge.mild { color: var(--mild); background: var(--mild-wash); }
.badge.calm { color: var(--calm); background: var(--calm-wash); }
.reason { color: var(--bad); }
.error { margin-top: 1.5rem; padding: 0.8rem 1rem; border-left: 3px solid var(--bad); background: var(--bad-wash); border-radius: 0 6px 6px 0; }
.warnings { margin: 1.25rem 0 0; padding: 0.7rem 1rem 0.7rem 2rem; border-left: 3px solid var(--mild); background: var(--mild-wash); border-radius: 0 6px 6px 0; font-size: 0.92rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: 1.25rem 2rem; margin: 2rem 0 0; }
.tiles dt { color: var(--soft); font-size: 0.86rem; }
.tiles dd { margin: 0; font-size: 1.9rem; line-height: 1.25; font-weight: 600; letter-spacing: -0.02em; }
.tiles dd small { margin-left: 0.25rem; font-size: 1rem; font-weight: 500; letter-spacing: 0; color: var(--soft); }
.tiles dd.note { font-size: 0.82rem; font-weight: 400; letter-spacing: 0; }
details { margin-top: 0.6rem; }
summary { cursor: pointer; color: var(--accent); font-size: 0.9rem; width: fit-content; }
)";

constexpr const char* kTables = R"(.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; min-width: 100%; font-size: 0.9rem; overflow-wrap: normal; }
th { font-weight: 500; color: var(--soft); text-align: left; font-size: 0.82rem; white-space: nowrap; vertical-align: bottom; }
th, td { padding: 0.4rem 1.1rem 0.4rem 0; border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: 0; }
td { vertical-align: baseline; }
.n { text-align: right; white-space: nowrap; }
td code { white-space: nowrap; }
td .hash { display: inline-block; min-width: 17rem; color: var(--soft); white-space: normal; overflow-wrap: anywhere; }
td .place { display: inline-block; min-width: 13rem; }
.heatmaps { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.heatmaps .scroll { flex: 1 1 18rem; }
.heatmap { border-collapse: separate; border-spacing: 3px; min-width: 0; width: 100%; }
.heatmap caption { text-align: left; color: var(--soft); font-size: 0.86rem; padding: 0.2rem 0; }
.heatmap caption:empty { display: none; }
.heatmap th { border: 0; padding: 0.2rem 0.9rem 0.2rem 0; vertical-align: middle; }
.heatmap tbody th, .heatmap thead th:first-child { width: 1%; }
.heatmap thead th.n { text-align: center; padding: 0.2rem; }
td.heat { border: 0; border-radius: 5px; padding: 0.55rem 0.6rem; text-align: center; min-width: 5rem; font-weight: 600;
  background: rgb(var(--accent-rgb) / calc(0.07 + 0.5 * var(--heat, 0))); }
td.heat small { display: block; font-size: 0.78rem; font-weight: 500; min-height: 1.2em; color: var(--ink); opacity: 0.8; }
td.heat.none { background: none; }
td.heat.failed { background: var(--bad-wash); color: var(--bad); font-weight: 500; }
)";

constexpr const char* kPictures = R"(figure { margin: 1.1rem 0 0; min-width: 0; }
figcaption { margin-bottom: 0.5rem; color: var(--soft); font-size: 0.86rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0.75rem 3rem; }
.plot { display: block; width: 100%; overflow: visible; }
.plot * { vector-effect: non-scaling-stroke; }
.plot.medium { height: 10rem; border-bottom: 1px solid var(--rule); }
.plot.tall { height: 10rem; border-bottom: 1px solid var(--rule); }
.plot.strip { height: 1.6rem; }
.bar { fill: var(--accent); }
.bar.bad { fill: var(--bad); }
.band { fill: rgb(var(--accent-rgb) / 0.16); }
.margin { fill: var(--rule); }
.grid { stroke: var(--rule); stroke-width: 1; }
.middle { stroke: var(--ink); stroke-width: 1.5; }
.limit { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; }
.spread { stroke: rgb(var(--accent-rgb) / 0.28); stroke-width: 7; stroke-linecap: round; }
.dot { fill: none; stroke: var(--accent); stroke-linecap: round; stroke-width: 7; }
.dot.sample { stroke: rgb(var(--accent-rgb) / 0.38); stroke-width: 3.2; }
.dot.median { stroke: var(--accent); stroke-width: 6; }
.trend { fill: none; stroke: var(--ink); stroke-width: 1.6; stroke-linejoin: round; }
.interval { stroke-width: 3; stroke-linecap: round; }
.dot.ratio { stroke-width: 9; }
.plot .good { stroke: var(--good); }
.plot .bad:not(.bar) { stroke: var(--bad); }
.plot .mild { stroke: var(--mild); }
.plot .calm { stroke: var(--calm); }
.x-axis { position: relative; height: 1.4rem; font-size: 0.78rem; color: var(--soft); overflow-wrap: normal; }
.x-axis .tick { position: absolute; top: 0.2rem; transform: translateX(-50%); white-space: nowrap; }
.x-axis .first { transform: none; }
.x-axis .last { transform: translateX(-100%); }
.framed { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 0.6rem; }
.y-axis { position: relative; height: 10rem; font-size: 0.78rem; color: var(--soft); overflow-wrap: normal; }
.y-axis span { position: absolute; right: 0; transform: translateY(50%); white-space: nowrap; }
.y-axis b { visibility: hidden; white-space: nowrap; }
.framed .x-axis { grid-column: 2; }
.rows { display: grid; grid-template-columns: minmax(8rem, 20rem) auto minmax(8rem, 1fr) auto; gap: 0.15rem 1.1rem; align-items: center; font-size: 0.9rem; }
.rows.four { grid-template-columns: minmax(8rem, 20rem) auto minmax(6rem, 1fr) minmax(6rem, 1fr); }
.rows.bars { grid-template-columns: minmax(8rem, max-content) auto minmax(6rem, 1fr); }
.row { display: contents; }
.row.control .name, .row.names { color: var(--soft); }
.row.names > span { font-size: 0.82rem; color: var(--soft); }
.figure { text-align: right; white-space: nowrap; font-weight: 600; }
.rows .badge { justify-self: start; }
.meter { display: block; height: 0.6rem; min-width: 5rem; border-radius: 3px; background: var(--faint); overflow: hidden; }
.meter i { display: block; height: 100%; background: var(--accent); border-radius: 3px; }
)";

constexpr const char* kLadder = R"(.option + .option { margin-top: 1.9rem; }
.option .value { margin-left: 0.4rem; padding: 0.05rem 0.45rem; border-radius: 4px; background: var(--faint); font-weight: 600; }
.ladder { display: grid; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 4px; margin: 0.6rem 0 0; padding: 0; list-style: none; max-width: 44rem; }
.ladder li { padding-top: 0.4rem; border-top: 5px solid var(--rule); font-size: 0.8rem; color: var(--soft); overflow-wrap: normal; }
.ladder .reached { border-color: var(--good); color: var(--ink); font-weight: 600; }
.ladder .skip { border-top-style: dotted; opacity: 0.55; font-weight: 400; }
.ladder .missed { border-color: var(--bad); color: var(--bad); font-weight: 600; }
.ladder .wanted::after { content: " · required"; font-weight: 400; }
.ladder .missed::after { content: " · required"; font-weight: 400; }
)";

constexpr const char* kNarrow = R"(@media (max-width: 46rem) {
  main { padding: 1.75rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  section { margin-top: 2.25rem; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
  .tiles dd { font-size: 1.5rem; }
  .rows, .rows.four { grid-template-columns: minmax(0, 1fr) auto; gap: 0.1rem 0.75rem; }
  .rows.four .plot, .rows .row > .plot, .rows .row > .x-axis { grid-column: 1 / -1; }
  .rows .row > .badge { grid-column: 1 / -1; margin-bottom: 0.8rem; }
  .rows .row > span:empty, .row.names { display: none; }
  .rows.four .plot + .plot { margin-bottom: 0.8rem; }
  .rows.bars { grid-template-columns: minmax(0, 1fr) auto; }
  .rows.bars .meter { grid-column: 1 / -1; margin-bottom: 0.5rem; }
  .ladder li { font-size: 0.7rem; }
  td.heat { min-width: 3.6rem; padding: 0.45rem 0.3rem; }
}
@media print {
  body { background: none; }
  section { break-inside: avoid; }
}
)";

}  // namespace

std::string style_sheet() {
  std::string text;
  for (const char* part : {kColors, kText, kTables, kPictures, kLadder, kNarrow})
    text += part;
  return text;
}

}  // namespace pterun::report::html
