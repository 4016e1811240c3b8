/** Stands in for packages that the bundle of the plugin leaves out. */
module.exports = {};
