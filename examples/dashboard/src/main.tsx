import { createClient } from '@atrium/client';
import { StrictMode, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Findings } from './findings';

/** Asks for a token, which a page of your own gets from the provider of the organization (docs/browser-apps.md, docs/sign-in.md). */
function SignIn({ onToken }: { onToken: (token: string) => void }) {
  return (
    <form className="panel" action={(form) => onToken(String(form.get('token')).trim())}>
      <label>Token <input name="token" type="password" required autoFocus /></label>
      <button>Sign in</button>
      <p>For the demonstration data, <code>bin/atrium token</code> prints one.</p>
    </form>
  );
}

function App() {
  const [token, setToken] = useState(() => sessionStorage.getItem('token'));
  const atrium = useMemo(() => (token ? createClient({ url: location.origin, token }) : undefined), [token]);
  const keep = (value: string | null) => {
    if (value) sessionStorage.setItem('token', value);
    else sessionStorage.removeItem('token');
    setToken(value);
  };
  return (
    <>
      <header><h1>Findings</h1>{token && <button onClick={() => keep(null)}>Sign out</button>}</header>
      {atrium ? <Findings atrium={atrium} /> : <SignIn onToken={keep} />}
    </>
  );
}

createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>);
