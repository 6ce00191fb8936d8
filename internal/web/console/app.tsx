import { useMemo } from 'react';
import { Provider } from 'urql';
import { makeClient } from './client';
import { useSession } from './session';
import { Said } from './said';
import { Shell } from './shell';
import { SignIn } from './sign-in';

/** The application shows the console to the person who is signed in. Each person has their own client, and therefore their own cache. */
export function App() {
  const { state, person, message } = useSession();
  const client = useMemo(() => makeClient(person), [person]);
  if (state === 'starting') return null;
  if (state === 'out') return <SignIn message={message} />;
  return <Provider value={client}><Shell key={person} /><Said key={`said ${person}`} /></Provider>;
}
