// @ts-check
/** The packages in a bundle, their licences, and bills of materials. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ name: string, version: string, license: string, texts: string[] }} Package texts: its licences and notices */
/** @typedef {{ type: string, name: string, version: string, purl: string, [more: string]: unknown }} Component of CycloneDX */

/** Where esbuild found a file of a package. */
const inPackage = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const isLegal = (/** @type {string} */ name) => /^(licen[cs]e|notice|copying)/i.test(name);

/** The packages with code in a bundle. @param {import("esbuild").Metafile} metafile @param {string} root its folder @returns {Package[]} */
export function packagesIn({ outputs }, root) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const folders = files.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 && inPackage.exec(file)?.[1]) || []);
  const all = [...new Set(folders)].map((folder) => packageIn(join(root, folder)));
  return [...new Map(all.map((one) => [`${one.name}@${one.version}`, one])).values()].sort((a, b) =>
    a.name.localeCompare(b.name),
  );
}

/** @param {string} folder @returns {Package} */
function packageIn(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter(isLegal).sort();
  return { name, version, license, texts: texts.map((file) => readFileSync(join(folder, file), "utf8").trim()) };
}

/** Their licences and notices, for people. @param {Package[]} packages */
export function noticesOf(packages) {
  const parts = packages.map(({ name, version, license, texts }) =>
    [`${name} ${version} (${license})`, ...texts].join("\n\n"),
  );
  const rule = `\n\n${"-".repeat(80)}\n\n`;
  return `${["This file contains code of these packages.", ...parts].join(rule)}\n`;
}

/** @param {Omit<Package, "texts">} package @returns {Component} */
export function componentOf({ name, version, license }) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const licenses = [/^[\w.+-]+$/.test(license) ? { license: { id: license } } : { license: { name: license } }];
  return { type: "library", "bom-ref": purl, name, version, purl, licenses };
}

/** Node.js in an executable. @param {string} version @returns {Component} */
export const nodeComponent = (version) => ({
  type: "platform",
  "bom-ref": `pkg:generic/node@${version}`,
  name: "node",
  version,
  purl: `pkg:generic/node@${version}`,
  licenses: [{ license: { name: "Node.js, with those of its parts" } }],
});

/**
 * A bill of materials in CycloneDX.
 * @param {{ name: string, version: string, type?: string, purl?: string }} about
 * @param {Component[]} components
 */
export const billOf = ({ type = "application", ...about }, components) => ({
  $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: { component: { type, "bom-ref": "this", licenses: [{ license: { id: "Apache-2.0" } }], ...about } },
  components,
  dependencies: [{ ref: "this", dependsOn: components.map((one) => one["bom-ref"]) }],
});
