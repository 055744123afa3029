// The way to a session: a token, or the one-time code of a `kron web` that somebody runs himself.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { trade } from "./api";

const ASKED = "Token, code, or the whole address";

export function Login(): JSX.Element {
  const [wrong, setWrong] = useState(false);
  return (
    <main id="main" class="login" tabIndex={-1}>
      <h1>Kron</h1>
      <p>Paste a token of <code>kron token create</code>, or the address that your own <code>kron web</code> prints.</p>
      <form onSubmit={(event) => {
        event.preventDefault();
        void trade(event.currentTarget.querySelector("input")!.value.trim().replace(/^.*#code=/, "")).then((ok) => setWrong(!ok));
      }}>
        <input type="password" aria-label={ASKED} placeholder={ASKED} autocomplete="off" />
        <button type="submit" class="main">Enter</button>
      </form>
      {wrong && <p class="c-fail" role="alert">Wrong, used or too old.</p>}
    </main>
  );
}
