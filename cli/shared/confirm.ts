import { createInterface } from "node:readline";

export interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
}

/** Answers no where nobody is there to be asked, and when the answer is anything but yes. */
export async function confirm(question: string, { input, output }: Terminal): Promise<boolean> {
  if (!input.isTTY) return false;
  const lines = createInterface({ input, output });
  try {
    const answer = await new Promise<string>((done) => {
      lines.once("close", () => done("")); // Ctrl-D, or Ctrl-C
      lines.question(`${question} [y/N] `, done);
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
