// This is the storage of GraphiQL. Its tabs live as long as the tab of the browser, so that a new visit starts with the examples.
// The theme and the history stay. A prefix separates all of them from the data of other GraphiQL pages on this host and port.

const passing = new Set(['tabState', 'query', 'variables', 'headers'].map((key) => 'graphiql:' + key));
const prefix = 'atrium.';
const area = (key) => (passing.has(key) ? sessionStorage : localStorage);
const keys = (store) => Object.keys(store).filter((key) => key.startsWith(prefix + 'graphiql:'));

export const storage = {
  getItem: (key) => area(key).getItem(prefix + key),
  setItem: (key, value) => area(key).setItem(prefix + key, value),
  removeItem: (key) => area(key).removeItem(prefix + key),
  clear: () => [sessionStorage, localStorage].forEach((store) => keys(store).forEach((key) => store.removeItem(key))),
  get length() { return keys(localStorage).length; },
};
