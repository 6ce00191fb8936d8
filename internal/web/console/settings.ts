/** These are the settings that the server wrote into the page. */
interface Settings {
  endpoint: string;
  token: string; // In development mode this is the token of the demonstration's owner, otherwise ''.
  roles: Record<string, string> | null; // In development mode these are tokens of the people of the demonstration, by the names of their roles.
  issuer: string; // People sign in at this provider. If they bring a token, it is ''.
  clientId: string;
  scope: string; // It is what the console asks the provider for.
  parameters: Record<string, string> | null; // They are further parameters of the requests to the provider.
  audience: string[] | null; // The server accepts tokens for these.
  playground: boolean; // It says whether the server has a page that opens queries.
}

export const settings: Settings = JSON.parse(document.getElementById('settings')!.textContent!);
