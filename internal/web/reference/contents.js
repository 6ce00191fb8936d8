// This file makes the list of operations beside the document, which a search shortens.

const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns the operations of the document with their methods and paths. */
export const operationsOf = ({ paths }) => Object.entries(paths).flatMap(([path, item]) => methods.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })));

/** Returns the address of an operation in the page. */
export const addressOf = ({ tags: [tag], operationId }) => `#/${encodeURIComponent(tag)}/${operationId}`;

/** Fills the list, and shortens it to the operations that contain all words of the search. */
export function listOperations(spec, list, search, status) {
  const operations = operationsOf(spec);
  const sections = spec.tags.map(({ name }) => {
    const entries = operations.filter(({ tags }) => tags.includes(name)).map((one) => {
      const link = element('a', { href: addressOf(one), title: `${one.method.toUpperCase()} ${one.path}` }, element('b', { className: one.method, textContent: one.method }), element('span', { textContent: one.summary }));
      return { item: element('li', {}, link), text: [name, one.operationId, one.method, one.path, one.summary, one.description].join(' ').toLowerCase() };
    });
    const section = element('details', {}, element('summary', { textContent: name }), element('ul', {}, ...entries.map(({ item }) => item)));
    return { section, entries };
  });
  list.replaceChildren(...sections.map(({ section }) => section));
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { section, entries } of sections) {
      for (const { item, text } of entries) item.hidden = !words.every((word) => text.includes(word));
      const shown = entries.filter(({ item }) => !item.hidden).length;
      section.hidden = shown === 0;
      section.open = words.length > 0;
      found += shown;
    }
    status.textContent = words.length === 0 ? '' : found === 1 ? '1 operation' : `${found} operations`;
  });
}

/** Marks the operation that the address names in the list. */
export function markCurrent(list) {
  for (const link of list.querySelectorAll('a')) {
    const current = link.hash === location.hash;
    link.ariaCurrent = current ? 'true' : null;
    if (current) link.closest('details').open = true;
  }
}
