/* The parts that the package consortium-fleet is built from. Not for programs: it may change with every version. */
export { family } from "../cli/check/metrics";
export { failure, type Finding, note, ok, showFindings, unknown, wrong } from "../cli/doctor/findings";
export { type Holder, holdersText, isOn, type Lock, locksIn, cutOff, withoutLogin } from "../cli/doctor/held";
export { service as examineService } from "../cli/doctor/service";
export { versions as examineVersions } from "../cli/doctor/versions";
export { noPulumi } from "../cli/shared/connection";
export { type TestCase, junitXml, metricLabels } from "../cli/shared/formats";
export {
  confirm,
  fail,
  jsonText,
  pointToHelp,
  print,
  repeatable,
  replaceFile,
  say,
  stopSignals,
  textOf,
  wholeNumber,
  writable,
} from "../cli/shared/terminal";
export { differencesBetween, inWords } from "../inventory/drift";
export { type EngineEvent } from "../inventory/plan/read";
export type { Answer, Order } from "../plugin/shared";
export { regions } from "../provider/api";
export { coded, codedMessage, codeIn, type ErrorCode, UserError } from "../provider/errors";
export { counted, groupBy, messageOf } from "../provider/plain";
export { environmentName, keySourceVariable } from "../provider/api/environment";
export { paths } from "../provider/api/paths";
export { printable, printableLines } from "../provider/api/printable";
export { Secrets } from "../provider/api/secrets";
export {
  classOf,
  holdsLedger,
  kindOf,
  limits,
  lossWarnings,
  outlivesResource,
  partsOfUrn,
  sharedArgument,
} from "../provider/constants";
export { resolveProviderSettings } from "../provider/pulumi/settings";
export { createLogVariable, readCreateLog } from "../provider/pulumi/stack-log";
export { type Props, pathOf } from "../provider/core/definition";
export { didYouMean } from "../provider/core/suggest";
export { definitions } from "../provider/resources";
export { check, readFile, readNetwork } from "../sdk/network/load";
export { partsOf } from "../sdk/network/parts";
export { plainResources, programConfig, programFiles, yamlProgram } from "../sdk/network/programs";
export { readYaml } from "../sdk/yaml/document";
export { type PlacedProblem, type Problem, type Reading, placed, summaryOf } from "../sdk/yaml/problems";
export { checkShape, mapping } from "../sdk/yaml/shape";
export { yamlForAll } from "../sdk/yaml/write";
