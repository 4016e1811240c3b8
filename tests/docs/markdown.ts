import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(__dirname, "../..");

export interface Block {
  /** `README.md:42`, where the example begins. */
  where: string;
  language: string;
  text: string;
}

export interface Page {
  /** Path in the repository. */
  file: string;
  text: string;
  /** The text without its examples. */
  prose: string;
  blocks: Block[];
}

const fence = /^```(\w*)\n([\s\S]*?)^```$/gm;

function page(file: string): Page {
  const text = readFileSync(join(root, file), "utf8");
  const blocks = [...text.matchAll(fence)].map(({ index, 1: language = "", 2: code = "" }) => ({
    where: `${file}:${text.slice(0, index).split("\n").length}`,
    language,
    text: code,
  }));
  return { file, text, prose: text.replace(fence, ""), blocks };
}

const markdownIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));

/** Every page that people write or read. */
export const pages = [
  "",
  "service",
  "console",
  "fleet",
  "docs",
  "docs/maintainers",
  "docs/reference",
  "examples/gitops",
  "plugin/registry",
]
  .flatMap(markdownIn)
  .map(page);

export const examples = (...languages: string[]): Block[] =>
  pages.flatMap(({ blocks }) => blocks).filter(({ language }) => languages.includes(language));

/** Anchors of a page's headings, as GitHub makes them. */
export const anchorsOf = ({ prose }: Page): string[] =>
  [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
