import { goProgram as built } from "../../support/go";

const programs = {
  geth: { target: "github.com/ethereum/go-ethereum/cmd/geth", files: [] },
  client: { target: "./client", files: ["client/main.go"] },
};

/** A program of go-ethereum's module: geth takes some minutes. */
export const goProgram = (name: keyof typeof programs): Promise<string> =>
  built({ what: `${name} of go-ethereum`, name, module: __dirname, ...programs[name] });
