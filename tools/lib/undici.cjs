/**
 * What the plugin needs of undici, put together as its index.js does. Its `fetch`, web sockets and mocks take longer to load than all
 * of this.
 */
const Dispatcher = require("../../node_modules/undici/lib/dispatcher/dispatcher");

Object.assign(Dispatcher.prototype, require("../../node_modules/undici/lib/api"));

module.exports = {
  Agent: require("../../node_modules/undici/lib/dispatcher/agent"),
  EnvHttpProxyAgent: require("../../node_modules/undici/lib/dispatcher/env-http-proxy-agent"),
  Pool: require("../../node_modules/undici/lib/dispatcher/pool"),
};
