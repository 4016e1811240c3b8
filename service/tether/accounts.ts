import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Damaged, Refusal, ServiceError } from "../errors";
import type { Network } from "../store/entities";
import { balanceOn } from "./tethering";
import type { Store } from "../store/store";
import { addressOf, balanceOf, usedBy } from "./transactions";
import type { Target, Targets } from "./targets";
import { SingleFlight } from "./schedule";
import { replaceFile, sha256 } from "../storage/files";

/** The tethers' accounts and balances on the networks that they pin to. */
export class Accounts {
  readonly #granting = new SingleFlight<void>();

  constructor(
    private readonly store: Store,
    private readonly targets: Targets,
    private readonly keys: AccountKeys,
    private readonly signal: AbortSignal,
  ) {}

  key = (id: string) => this.keys.of(id);
  address = (id: string) => addressOf(this.key(id));

  /** Finds a network, and funds the account there initially. */
  async target(id: string, network: Network): Promise<Target> {
    const target = await this.targets.get(network, this.signal);
    const { fields } = this.store.get("tether", id)!;
    if (!target.local || fields.granted?.[network]) return target;
    await this.#granting.join(`${id} ${network}`, async () => {
      const account = this.address(id);
      // a process that was killed may have given it, and not noted that
      const isNew = (await balanceOf(target, account)) === 0n && (await usedBy(target, account)) === 0;
      if (isNew) await this.#give(id, target, balanceOn(fields, network));
      const now = this.store.get("tether", id)!.fields.granted;
      this.store.setFields("tether", id, { granted: { ...now, [network]: true } });
    });
    return target;
  }

  async balance(id: string, network: Network): Promise<string> {
    return String(await balanceOf(await this.target(id, network), this.address(id)));
  }

  async fund(id: string, network: Network, wei: bigint): Promise<void> {
    const target = await this.target(id, network);
    if (!target.local) throw new Refusal(409, `There is no faucet on ${network}: it is not a chain of this service.`);
    await this.#give(id, target, wei);
  }

  async #give(id: string, target: Target, wei: bigint): Promise<void> {
    if (wei > 0n) await target.local?.give(this.address(id), wei);
  }
}

/** The private keys of the tethers' accounts, each in a file that only its owner can read. */
export class AccountKeys {
  readonly #keys = new Map<string, string>();

  /** @param dir without it, keys are only in memory */
  constructor(
    private readonly dir: string | undefined,
    private readonly store: Store,
  ) {}

  /** Checks that the keys of all tethers exist. Changes nothing. */
  static check(dir: string, store: Store): void {
    if (existsSync(dir) && !statSync(dir).isDirectory()) {
      const why = "which must be a folder, but is a file. Move it away";
      throw new ServiceError(`The accounts' keys are kept in ${dir}, ${why}.`);
    }
    for (const { id, fields } of store.all("tether")) {
      const file = fileOf(dir, id);
      if (existsSync(file)) {
        const key = read(file);
        if (fields.keyChecksum !== undefined && fields.keyChecksum !== sha256(key))
          throw new Damaged(
            `${file} is damaged: it contains another key than before, which does not own the tether's account`,
          );
      } else if (fields.keyChecksum !== undefined)
        throw new Damaged(`${file} is damaged: it is missing, and contains the key of a tether's account`);
    }
  }

  of(tetherId: string): string {
    const key =
      this.#keys.get(tetherId) ?? (this.dir === undefined ? random() : this.#kept(fileOf(this.dir, tetherId)));
    this.#keys.set(tetherId, key);
    const keyChecksum = sha256(key);
    if (this.store.get("tether", tetherId)?.fields.keyChecksum !== keyChecksum)
      this.store.setFields("tether", tetherId, { keyChecksum });
    return key;
  }

  #kept(file: string): string {
    if (existsSync(file)) return read(file);
    const key = random();
    mkdirSync(this.dir!, { recursive: true, mode: 0o700 });
    replaceFile(file, `${key}\n`);
    return key;
  }
}

const fileOf = (dir: string, tetherId: string) => join(dir, `${tetherId}.key`);
const random = () => `0x${randomBytes(32).toString("hex")}`; // practically always a valid key

function read(file: string): string {
  const key = readFileSync(file, "utf8").trim();
  if (/^0x[0-9a-f]{64}$/i.test(key)) return key;
  throw new Damaged(
    `${file} is damaged: it must hold a private key, 0x and 64 hex digits, which owns a tether's money`,
  );
}
