// The ready pack: `pulumi preview --policy-pack node_modules/pulumi-consortium/policy-pack`. See docs/policies.md.
/* global require */
"use strict";
const { PolicyPack } = require("@pulumi/policy");
const { consortiumPolicies } = require("pulumi-consortium/policy");

new PolicyPack("pulumi-consortium", consortiumPolicies());
