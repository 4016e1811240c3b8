import { z } from "zod";
import { AppCredObject } from "../api";
import { basicAuthHeader } from "../api/secrets";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import {
  appcreds,
  consortiumId,
  customTimeouts,
  environmentId,
  extra,
  membershipId,
  nameText,
  revision,
} from "./fields";

export const appCred: Definition = {
  type: "AppCred",
  title: "credential",
  doc: "Username and password for the runtime endpoints of one member's nodes in one environment, and nothing else.",
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    environmentId: environmentId(),
    membershipId: membershipId("Id of the membership whose nodes it opens."),
    name: field(
      nameText("name"),
      "Name of the credential. If the service cannot rename it, the run ends with an error, and the next run creates a new pair.",
      {
        default: "the name of the resource",
        onChange: "replaceIfRefused",
      },
    ),
    keepers: field(
      z.record(z.string(), z.unknown(), { error: "keepers must be an object of values" }).optional(),
      "Arbitrary values. When one changes, a new pair is created, then the old one is deleted.",
      { default: "none", visibility: "program", onChange: "replace" },
    ),
    rotateWhenChanged: field(
      z.record(z.string(), z.unknown(), { error: "rotateWhenChanged must be an object of values" }).optional(),
      "Arbitrary values. When one is added or changed, the service regenerates the password in place: same username, and the old password stops working at once. Not every service can.",
      { default: "none", visibility: "program", onChange: "regenerate" },
    ),
    extra: extra(),
    customTimeouts: customTimeouts(),
  }),
  outputs: z.object({
    username: field(z.string().optional(), "Username of the pair; also the id."),
    authType: field(z.string().optional(), "Authentication type: `basic_auth`."),
    password: field(
      z.string().optional(),
      "Password of the pair. The service shows it only once, when the pair is created.",
      {
        secret: true,
      },
    ),
    basicAuthHeader: field(z.string().optional(), "Value of the `Authorization` header: `Basic …`.", {
      secret: true,
      visibility: "program",
    }),
    revision: revision(),
  }),
  wire: AppCredObject,
  place: appcreds,
  steps: {
    shownOnce({ id, username, password }) {
      if (typeof password !== "string" || password === "") return undefined;
      const user = typeof username === "string" ? username : id;
      return { username: user, password, basicAuthHeader: basicAuthHeader({ username: user, password }) };
    },
    onImport:
      "the password is not available: the service showed it only once. If your program needs one, declare another credential: " +
      "rotateWhenChanged locks out the applications that use this one.",
  },
};
