import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

interface Line {
  name: string;
  values: (number | null)[];
}

interface ChartProps {
  /** What the chart shows, for screen readers. */
  label: string;
  times: number[];
  lines: Line[];
  /** Whether lines go in steps from one point to the next. */
  steps?: boolean;
}

const height = 220;
/** Lines differ by color, dashes and width, so that each one is visible where they overlap. */
const looks = [
  { color: "--line-1", dash: [] },
  { color: "--line-2", dash: [7, 5] },
  { color: "--line-3", dash: [2, 4] },
  { color: "--line-4", dash: [12, 5, 2, 5] },
  { color: "--line-5", dash: [16, 10] },
  { color: "--line-6", dash: [4, 10] },
  { color: "--line-7", dash: [12, 4, 2, 4, 2, 4] },
  { color: "--line-8", dash: [1, 7] },
];
/** More lines than this cannot be told apart. */
export const mostLines = looks.length;
const lookOf = (index: number) => looks[index % looks.length]!;
/** The lower ones are wider. */
const widthOf = (index: number, count: number) => 2 + (count - 1 - index) * Math.min(1, 4 / Math.max(1, count - 1));

/** A canvas needs computed colors, for light or dark. */
function color(name: string): string {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** A single point has no range of its own. */
const wide = (low: number, high: number): [number, number] => (low < high ? [low, high] : [low - 1_800, high + 1_800]);
const whole = (ticks: number[]) => ticks.map((tick) => (Number.isInteger(tick) ? tick.toLocaleString("en") : ""));

function optionsOf({ lines, steps = false }: ChartProps, place: HTMLElement): uPlot.Options {
  const axis = { stroke: color("--quiet"), grid: { stroke: color("--border"), width: 1 }, ticks: { show: false } };
  const path = steps ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, low, high) => wide(low, high) },
      y: { range: (_, low, high) => [Math.max(0, Math.floor(low) - 1), Math.ceil(high) + 1] },
    },
    axes: [
      { ...axis, space: 80, size: 30, values: (_, ticks) => ticks.map((tick) => clockAt(tick)) },
      { ...axis, size: 64, values: (_, ticks) => whole(ticks) },
    ],
    series: [
      {},
      ...lines.map(({ name: label }, index) => {
        const { color: of, dash } = lookOf(index);
        const points = { show: steps, size: 8, fill: color(of) };
        return {
          label,
          stroke: color(of),
          dash,
          width: steps ? 2 : widthOf(index, lines.length),
          points,
          ...(path && { paths: path }),
        };
      }),
    ],
  };
}

const clockAt = (seconds: number) =>
  new Date(seconds * 1000).toLocaleTimeString("en-GB", seconds % 60 === 0 ? { timeStyle: "short" } : {});

/** Lines over time, with their names and newest values below. */
export function Chart(props: ChartProps) {
  const { label, times, lines } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const names = lines.map(({ name }) => name).join("\n");

  useEffect(() => {
    const box = place.current!;
    const draw = () => {
      plot.current?.destroy();
      box.replaceChildren();
      plot.current = new uPlot(optionsOf(props, box), latest.current, box);
    };
    draw();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: box.clientWidth, height }));
    sized.observe(box);
    scheme.addEventListener("change", draw);
    return () => {
      sized.disconnect();
      scheme.removeEventListener("change", draw);
      plot.current?.destroy();
    };
  }, [names]);
  useEffect(() => plot.current?.setData(data), [times, lines]);

  return (
    <figure class="chart">
      <div ref={place} role="img" aria-label={label} />
      <figcaption>
        {lines.map(({ name, values }, index) => (
          <span key={index}>
            <svg viewBox="0 0 28 8" aria-hidden="true">
              <path
                d="M0 4h28"
                stroke={`var(${lookOf(index).color})`}
                stroke-dasharray={lookOf(index).dash.join(" ")}
              />
            </svg>
            <bdi>{name}</bdi> <b>{values.findLast((value) => value !== null)?.toLocaleString("en") ?? "—"}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
