/** At such a provider people can sign in. */
export interface SignInProvider {
  name: string; // The page calls it so. If it is '', it is called like the host of its issuer.
  issuer: string;
  clientId: string;
  scope: string; // It is what the console asks the provider for.
  parameters: Record<string, string> | null; // They are further parameters of the requests to the provider.
}

/** These are the settings that the server wrote into the page. */
interface Settings {
  endpoint: string;
  token: string; // In development mode this is the token of the demonstration's owner, otherwise ''.
  roles: Record<string, string> | null; // In development mode these are tokens of the people of the demonstration, by the names of their roles.
  providers: SignInProvider[]; // People can sign in at these. If there are none, they bring a token.
  audience: string[] | null; // The server accepts tokens for these.
  playground: boolean; // It says whether the server has a page that opens queries.
}

export const settings: Settings = JSON.parse(document.getElementById('settings')!.textContent!);
