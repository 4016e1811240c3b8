/*
 * In place of a compiler and a package manager that Pulumi's SDK loads to serialize functions, which nothing here does: to load them
 * takes longer than most test files.
 */
export {};
