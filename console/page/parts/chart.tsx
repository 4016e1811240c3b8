import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Line {
  name: string;
  values: (number | null)[];
}

interface ChartProps {
  /** What the chart shows, for whoever cannot see it. */
  label: string;
  times: number[];
  lines: Line[];
  /** Points only, with a line from one to the next as steps. */
  steps?: boolean;
}

const height = 220;
/** Lines differ by color and by dashes. */
const dashes = [[], [6, 4], [2, 3], [10, 4, 2, 4]];
const colors = ["--line-1", "--line-2", "--line-3", "--line-4"];

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function optionsOf({ lines, steps }: ChartProps, width: number): uPlot.Options {
  const axis = { stroke: color("--quiet"), grid: { stroke: color("--border"), width: 1 }, ticks: { show: false } };
  const path = steps ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    ...{ width, height, legend: { show: false }, cursor: { y: false } },
    scales: { y: { range: (_, low, high) => [Math.max(0, Math.floor(low) - 1), Math.ceil(high) + 1] } },
    axes: [
      { ...axis, space: 80 },
      {
        ...axis,
        size: 64,
        values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? tick.toLocaleString("en") : "")),
      },
    ],
    series: [
      {},
      ...lines.map(({ name }, index) => ({
        ...{
          label: name,
          stroke: color(colors[index % colors.length]!),
          width: 2,
          dash: dashes[index % dashes.length],
        },
        ...{ points: { show: steps ?? false, size: 7 }, ...(path && { paths: path }) },
      })),
    ],
  };
}

/** Lines over time, with their names and newest values below. */
export function Chart(props: ChartProps) {
  const { label, times, lines } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const names = lines.map(({ name }) => name).join("\n");

  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(props, place.current!.clientWidth), data, place.current!);
    };
    draw();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: place.current!.clientWidth, height }));
    sized.observe(place.current!);
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
          <span key={name}>
            <svg viewBox="0 0 28 8" aria-hidden="true">
              <path d="M0 4h28" class={`line-${(index % 4) + 1}`} />
            </svg>
            {name} <b>{values.findLast((value) => value !== null)?.toLocaleString("en") ?? "—"}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
