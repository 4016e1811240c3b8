/** The style of the map. It must not contain special XML characters. A page may set other colors. */
export const mapCss = `
.network-map {
  --map-back: #ffffff; --map-box: #ffffff; --map-group: #f6f7f9; --map-inner: #eceff3; --map-ink: #1b2430; --map-soft: #4d5a6b;
  --map-line: #7a8798; --map-good: #176f3a; --map-waiting: #8a5a00; --map-bad: #b3261e; --map-create: #176f3a;
  --map-update: #0b57a4; --map-replace: #9c1f7a; --map-delete: #b3261e; --map-drift: #8a5a00;
  background: var(--map-back); max-width: 100%; height: auto;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .network-map {
    --map-back: #11161d; --map-box: #1b222c; --map-group: #171d26; --map-inner: #1f2732; --map-ink: #e8edf3; --map-soft: #a9b5c4;
    --map-line: #76839a; --map-good: #5fd08a; --map-waiting: #f0b54a; --map-bad: #ff8a80; --map-create: #5fd08a;
    --map-update: #7db8ff; --map-replace: #f08fd4; --map-delete: #ff8a80; --map-drift: #f0b54a;
  }
}
.network-map .shape { fill: var(--map-box); stroke: var(--map-line); stroke-width: 1.2; }
.network-map .consortium .shape { fill: var(--map-group); }
.network-map .environment .shape { fill: var(--map-inner); }
.network-map .nothing .shape { fill: none; stroke-dasharray: 2 4; }
.network-map .outline { fill: none; stroke: var(--map-replace); stroke-width: 1.6; }
.network-map text { fill: var(--map-soft); font-size: 12px; }
.network-map text.label { fill: var(--map-ink); font-size: 13.5px; font-weight: 600; }
.network-map text.mark { fill: var(--map-ink); font-weight: 700; }
.network-map .sign { fill: var(--map-good); fill-rule: evenodd; }
.network-map .tone-waiting .sign { fill: var(--map-waiting); }
.network-map .tone-bad .sign { fill: var(--map-bad); }
.network-map .tone-bad .shape { stroke: var(--map-bad); stroke-width: 2; }
.network-map .tone-waiting .shape { stroke: var(--map-waiting); stroke-dasharray: 6 3; }
.network-map .mark-drift .shape { stroke: var(--map-drift); stroke-width: 2.4; }
.network-map .mark-not-in-stacks .shape { stroke-dasharray: 2 3; }
.network-map .mark-create .shape { stroke: var(--map-create); stroke-width: 2.6; stroke-dasharray: none; }
.network-map .mark-update .shape { stroke: var(--map-update); stroke-width: 2.6; stroke-dasharray: 10 3; }
.network-map .mark-replace .shape { stroke: var(--map-replace); stroke-width: 2.6; stroke-dasharray: none; }
.network-map .mark-delete .shape { stroke: var(--map-delete); stroke-width: 2.6; stroke-dasharray: 3 3; }
.network-map .mark-delete text.label { text-decoration: line-through; }
.network-map .mark-create text.mark { fill: var(--map-create); }
.network-map .mark-update text.mark { fill: var(--map-update); }
.network-map .mark-replace text.mark { fill: var(--map-replace); }
.network-map .mark-delete text.mark { fill: var(--map-delete); }
.network-map .edge { fill: none; stroke: var(--map-line); stroke-width: 1.2; }
.network-map .edge.pins { stroke-dasharray: 5 4; stroke-width: 1.8; }
.network-map a:focus-visible { outline: none; }
.network-map a:focus-visible .shape, .network-map a:hover .shape { stroke: var(--map-ink); stroke-width: 3; }
`;
