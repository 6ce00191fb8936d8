/** What the server wrote into the page. */
interface Settings {
  endpoint: string;
  token: string; // of the demonstration's owner, in development mode; '' otherwise
  issuer: string; // at which people sign in; '' where they bring a token
  clientId: string;
  playground: boolean; // whether there is a page to open queries in
}

export const settings: Settings = JSON.parse(document.getElementById('settings')!.textContent!);
