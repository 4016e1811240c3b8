import { containing, FakeClock, start } from "./helpers";

export const refused = (status: number, text: string) => ({
  status,
  body: { errorMessage: containing(text) },
});

/** A service with one tether on a fake clock; `post` and `get` go to the tether. */
export async function tethered(options: Parameters<typeof start>[0] = {}) {
  const clock = new FakeClock();
  const started = await start({ clock: clock.now, tethers: [{ id: "tether0001" }], ...options });
  const { send } = started;
  const get = (path: string) => send("GET", `/tether/tether0001${path}`);
  const post = (path: string, body: unknown = {}) => send("POST", `/tether/tether0001${path}`, body);
  const configure = async (network = "rinkeby", interval = 1) => {
    expect((await post("/targetNetwork", { network })).status).toBe(200);
    expect((await post("/interval", { interval })).status).toBe(200);
  };
  return { ...started, clock, get, post, configure };
}
