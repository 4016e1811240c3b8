/** A limit as it is on this machine: CI makes it longer, because a busy machine takes its time. */
export const patiently = (ms: number): number => ms * Number(process.env.TEST_PATIENCE ?? 1);
