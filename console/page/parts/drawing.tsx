import { useLayoutEffect, useRef } from "preact/hooks";

/** The map as the command draws it. Its text is data: it is parsed as a picture, and what is not one is left out. */
export function Drawing({ svg, label }: { svg: string | undefined; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  // Before the page is painted, so that nothing moves under the pointer.
  useLayoutEffect(() => {
    if (svg === undefined) return;
    const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    if (picture.localName !== "svg") return;
    for (const unwanted of picture.querySelectorAll("script, style, foreignObject")) unwanted.remove();
    place.current!.replaceChildren(document.importNode(picture, true));
  }, [svg]);
  return <div class="drawing scroll" ref={place} tabIndex={0} role="region" aria-label={label} />;
}
