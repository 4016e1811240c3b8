import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A map may be made so much smaller than it is drawn, and can still be read; what does not fit then scrolls. */
const smallest = 0.75;

/** The map as the command draws it. Its text is data: it is parsed as a picture, and what is not one is left out. */
export function Drawing({ svg, label }: { svg: string | undefined; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  // Before the page is painted, so that nothing moves under the pointer.
  useLayoutEffect(() => {
    if (svg === undefined) return;
    const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    if (picture.localName !== "svg") return;
    for (const unwanted of picture.querySelectorAll("script, style, foreignObject")) unwanted.remove();
    const drawn = document.importNode(picture as Element as SVGSVGElement, true);
    drawn.style.minWidth = `${smallest * Number(drawn.getAttribute("width"))}px`;
    place.current!.replaceChildren(drawn);
  }, [svg]);
  const [isCut, cut] = useState(false);
  useEffect(() => {
    const box = place.current!;
    const sized = new ResizeObserver(() => cut(box.scrollWidth > box.clientWidth));
    sized.observe(box);
    return () => sized.disconnect();
  }, []);
  return (
    <div>
      <div class="drawing scroll" ref={place} tabIndex={0} role="region" aria-label={label} />
      {isCut && <p class="quiet">The map is wider than this window. It scrolls sideways.</p>}
    </div>
  );
}
