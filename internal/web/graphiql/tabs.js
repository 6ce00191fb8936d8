// This file has the tabs with which the page opens: the query of the link, if there is one, and the examples.

import { parse } from 'graphql';

/**
 * Returns the properties of GraphiQL for its tabs, from the URL of the page, the examples, and the storage of GraphiQL. runsFirst says
 * whether the first example runs by itself: the query of a link runs only when the reader starts it.
 */
export function tabs(search, examples, storage) {
  const link = new URLSearchParams(search);
  const all = examples.map(({ name, query, variables }) => ({ query: nameOperation(query, name), variables }));
  const initial = link.has('query') ? { query: link.get('query'), variables: link.get('variables') ?? '' } : all[0];
  return {
    defaultTabs: link.has('query') ? [initial, ...all] : all.length > 0 ? all : undefined,
    runsFirst: !link.has('query') && all.length > 0 && !storage.getItem('graphiql:tabState'),
    // Without these properties, GraphiQL shows the first tab without its variables. With them, it opens that tab again after a
    // reload. So they are only for a link, which the URL still has after a reload, and for the first visit.
    ...((link.has('query') || !storage.getItem('graphiql:tabState')) && initial && { initialQuery: initial.query, initialVariables: initial.variables }),
  };
}

/** Returns the name of an operation as words: WhoHoldsAPackage becomes "Who holds a package". Other capitals stay. */
export const wordsOf = (name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ').replace(/ [A-Z][a-z]*(?= |$)/g, (word) => word.toLowerCase());

// GraphiQL names a tab after its operation, so an operation without a name gets that of its example: "New repo" becomes NewRepo.
export function nameOperation(query, name) {
  const operation = name.replace(/\W+(\w?)/g, (_, first) => first.toUpperCase());
  try {
    const operations = parse(query).definitions.filter(({ kind }) => kind === 'OperationDefinition');
    if (operations.length !== 1 || operations[0].name || !/^[A-Za-z_]/.test(operation)) return query;
    const { start } = operations[0].loc;
    const [word] = query.slice(start).match(/^\w*/);
    return `${query.slice(0, start)}${word || 'query'} ${operation} ${query.slice(start + word.length).trimStart()}`;
  } catch {
    return query;
  }
}
