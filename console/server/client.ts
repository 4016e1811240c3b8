import { ConsortiumClient, type Settings } from "../../provider/api";
import { UndiciTransport } from "../../provider/api/undici-transport";

/** A client whose calls the embedded service neither logs nor hits with faults: those are for the program that is tested. */
export function observingClient(settings: Settings): ConsortiumClient {
  const inner = new UndiciTransport(settings);
  return new ConsortiumClient(settings, {
    transport: {
      send: (request) => inner.send({ ...request, headers: { ...request.headers, "consortium-observer": "1" } }),
      close: () => inner.close(),
    },
    // Nothing is asked twice in a row: whoever looks hears of the failure, and the next look comes soon enough.
    onRetry: (error) => {
      throw error;
    },
  });
}
