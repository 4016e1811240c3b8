"use strict"; // else whoever imports it first decides whether the bundle has this, and so the names of its parts
/** Stands in for packages that the bundle of the plugin leaves out. */
module.exports = {};
