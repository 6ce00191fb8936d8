// This program sends every query of the dashboard as the data source does, and says what each panel gets. It needs no Grafana. A query that fails,
// or a column without values of its type, ends it with an error.

import { readFileSync } from 'node:fs';
import jsonata from 'jsonata';

const { ATRIUM_URL = 'http://127.0.0.1:8080', ATRIUM_TOKEN } = process.env;
const dashboard = JSON.parse(readFileSync(new URL('findings.json', import.meta.url)));
const now = new Date(), from = new Date(now.getTime() - 25 * 7 * 86_400_000);
const variables = {
  ...Object.fromEntries(dashboard.templating.list.map(({ name, current }) => [name, current.value])), '__from:date:iso': from.toISOString(), '__to:date:iso': now.toISOString(),
};
const fill = (text) => text.replace(/\$\{([^}]+)\}/g, (_, name) => variables[name] ?? (() => { throw new Error(`there is no variable ${name}`); })());
const fits = { string: (value) => typeof value === 'string', number: Number.isFinite, timestamp: (value) => !Number.isNaN(Date.parse(value)) };

for (const { title, targets } of dashboard.panels) {
  for (const { url, url_options: { method, body_graphql_query: query, body_graphql_variables: given }, root_selector: root, columns, format } of targets) {
    const answer = await fetch(ATRIUM_URL + url, {
      method, headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${ATRIUM_TOKEN}` }, body: JSON.stringify({ query, variables: JSON.parse(fill(given)) }),
    });
    const body = await answer.json();
    if (body.errors) throw new Error(`${title}: ${body.errors[0].message}`);
    const rows = [await jsonata(root).evaluate(body) ?? []].flat();
    if (rows.length === 0) throw new Error(`${title}: there are no rows`);
    if (format === 'timeseries' && columns.filter(({ type }) => type === 'timestamp').length !== 1) throw new Error(`${title}: a series needs one column of times`);
    const values = [];
    for (const { selector, text, type } of columns) {
      const column = rows.map((row) => selector.split('.').reduce((value, name) => value?.[name], row));
      if (!column.every(fits[type])) throw new Error(`${title}: the column ${text} has values that are no ${type}: ${JSON.stringify(column.find((value) => !fits[type](value)))}`);
      if (type === 'number') values.push(...column);
    }
    console.log(`${title}: ${rows.length} ${rows.length === 1 ? 'row' : 'rows'}, up to ${Math.max(...values)}`);
  }
}
