import { useMemo } from 'react';
import { Provider } from 'urql';
import { makeClient } from './client';
import { useSession } from './session';
import { Shell } from './shell';
import { SignIn } from './sign-in';

/** The application shows the console to the person who is signed in. Each token has its own client, and therefore its own cache. */
export function App() {
  const { state, token, message } = useSession();
  const client = useMemo(() => makeClient(token), [token]);
  if (state === 'starting') return null;
  if (state === 'out') return <SignIn message={message} />;
  return <Provider value={client}><Shell key={token} /></Provider>;
}
