import { useState, type FormEvent } from 'react';
import { bareToken, enter, enterAs, looksLikeToken, signIn } from './session';
import { settings, type SignInProvider } from './settings';
import { Mark } from './ui';

/** On this page the reader signs in: at the provider of the operator, or with a token. */
export function SignIn({ message }: { message: string }) {
  const [token, setToken] = useState(''), [problem, setProblem] = useState(message), [leaving, setLeaving] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (looksLikeToken(token)) enter(bareToken(token));
    else setProblem('This is not a token: a token has three parts with dots between them.');
  };
  const leave = (provider: SignInProvider) => {
    setLeaving(provider.issuer);
    signIn(provider).catch((error: Error) => { setProblem(error.message); setLeaving(''); });
  };
  return (
    <main className="sign-in">
      <div className="panel">
        <Mark />
        <h1>Sign in to Atrium</h1>
        {problem && <p className="refused" role="alert">{problem}</p>}
        {settings.providers.map((provider) => <button key={provider.issuer} type="button" className="primary" onClick={() => leave(provider)} disabled={leaving !== ''}>{leaving === provider.issuer ? 'Redirecting …' : `Continue with ${provider.name || new URL(provider.issuer).host}`}</button>)}
        {settings.token && <button type="button" className="primary" onClick={() => enter(settings.token)}>Continue as the owner of the demonstration</button>}
        {settings.roles && Object.keys(settings.roles).filter((role) => role !== 'owner').map((role) => <button key={role} type="button" onClick={() => enterAs(role)}>Continue as its {role}</button>)}
        {(settings.providers.length > 0 || settings.token) && <p className="or"><span>or</span></p>}
        <form onSubmit={submit}>
          <label htmlFor="token">Bearer token</label>
          <input id="token" className="covered" value={token} onChange={(event) => setToken(event.target.value)} autoComplete="off" autoCapitalize="off" spellCheck={false} aria-describedby="token-note" />
          <button type="submit" disabled={!token.trim()}>Use this token</button>
        </form>
        <p id="token-note" className="dim">{settings.providers.length > 0 ? '' : 'No sign-in provider is configured (--console-issuer). '}The token stays in the memory of this tab until you close or reload it.</p>
      </div>
      <p className="elsewhere">{settings.playground && <a href="/playground">Playground</a>}<a href="/guide">Guide</a><a href="/docs">REST reference</a></p>
    </main>
  );
}
