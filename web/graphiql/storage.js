// Where GraphiQL keeps things. Tabs live as long as the browser's tab, so that a new visit starts with the examples;
// the theme and the history stay. Both apart from what other GraphiQLs on this host and port have left behind.

const passing = new Set(['tabState', 'query', 'variables', 'headers'].map((key) => 'graphiql:' + key));
const prefix = 'atrium.';
const area = (key) => (passing.has(key) ? sessionStorage : localStorage);
const keys = (of) => Object.keys(of).filter((key) => key.startsWith(prefix + 'graphiql:'));

export const storage = {
  getItem: (key) => area(key).getItem(prefix + key),
  setItem: (key, value) => area(key).setItem(prefix + key, value),
  removeItem: (key) => area(key).removeItem(prefix + key),
  clear: () => [sessionStorage, localStorage].forEach((from) => keys(from).forEach((key) => from.removeItem(key))),
  get length() { return keys(localStorage).length; },
};
