/** The version of this package, and the address of its repository ("": there is none yet): package.json's, by `npm run generate`. */
export const version = "0.3.0";
const repository: string = "";

/** The command that installs another one of our packages. */
export const installing = (name: string): string =>
  `npm install --save-dev ${name}@${version}${repository ? "" : " (not published yet: pack it from the clone, as its README says)"}`;

/** The module of the SDK for Go; also from there. */
export const goModule = "pulumi-consortium/sdk/go";
