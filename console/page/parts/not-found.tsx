import { hrefOf } from "../route";

/** What an address shows whose object is not there (any more). */
export function NotFound() {
  return (
    <>
      <h1>There is nothing here</h1>
      <p>
        It may have been deleted. <a href={hrefOf()}>See the network</a>
      </p>
    </>
  );
}
