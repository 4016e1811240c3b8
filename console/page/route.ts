import { useEffect, useState } from "preact/hooks";

/** The parts of `#/environments/e123`. A tether's address ends in its id, as in the hosted console. */
const parts = (): string[] => location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);

/** An address may have been typed without encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const hrefOf = (...path: string[]): string => `#/${path.map(encodeURIComponent).join("/")}`;

export function useRoute(): string[] {
  const [route, set] = useState(parts);
  useEffect(() => {
    const changed = () => {
      set(parts());
      scrollTo(0, 0);
      document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
