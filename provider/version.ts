/** The version of this package; a test holds it equal to package.json. */
export const version = "0.3.0";

/** Whether packages are published: package.json has a `repository` then. A test holds both together. */
const isPublished: boolean = false;

/** What installs another one of our packages. */
export const installing = (name: string): string =>
  `npm install --save-dev ${name}@${version}${isPublished ? "" : " (not published yet: pack it from the clone, as its README says)"}`;
