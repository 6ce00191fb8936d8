// This file writes a request for an operation of the document in four languages.

const quote = (text) => JSON.stringify(text);
const indent = (text, by) => text.replaceAll('\n', '\n' + by);

/** Returns what a request for an operation consists of. What is in the path stays as a name in braces; the document has examples of the rest. */
function requestOf(origin, path, method, { parameters = [], requestBody }) {
  const needed = parameters.filter((one) => one.in === 'query' && one.required).flatMap(({ name, example }) => [example].flat().map((value) => `${name}=${encodeURIComponent(value)}`));
  const example = requestBody?.content?.['application/json']?.example;
  return { method: method.toUpperCase(), url: origin + path + (needed.length > 0 ? '?' + needed.join('&') : ''), body: requestBody && JSON.stringify(example ?? {}, null, 2) };
}

const languages = {
  curl: ({ method, url, body }) => [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}'${url}'`, `-H "Authorization: Bearer $TOKEN"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d '${body.replaceAll("'", String.raw`'\''`)}'`] : []),
  ].join(' \\\n  '),
  Go: ({ method, url, body }) => `body := ${body ? `strings.NewReader(${body.includes('`') ? quote(body) : '`' + body + '`'})` : 'http.NoBody'}
request, err := http.NewRequest("${method}", ${quote(url)}, body)
if err != nil {
	return err
}
request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))${body ? '\nrequest.Header.Set("Content-Type", "application/json")' : ''}
response, err := http.DefaultClient.Do(request)
if err != nil {
	return err
}
defer response.Body.Close()
_, err = io.Copy(os.Stdout, response.Body)
return err`,
  TypeScript: ({ method, url, body }) => `const response = await fetch(${quote(url)}, {
  method: "${method}",
  headers: { Authorization: \`Bearer \${process.env.TOKEN}\`${body ? ', "Content-Type": "application/json"' : ''} },${body ? `\n  body: JSON.stringify(${indent(body, '  ')}),` : ''}
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.text());`,
  Python: ({ method, url, body }) => `import os
import urllib.request

request = urllib.request.Request(
    ${quote(url)},
    method="${method}",
    headers={"Authorization": "Bearer " + os.environ["TOKEN"]${body ? ', "Content-Type": "application/json"' : ''}},${body ? `\n    data=b"""${body.replaceAll('\\', '\\\\')}""",` : ''}
)
with urllib.request.urlopen(request) as response:
    print(response.read().decode())`,
};

/** These are the names of the languages. */
export const names = Object.keys(languages);

/** Returns the sample of an operation in one language. */
export const sample = (language, origin, path, method, operation) => languages[language](requestOf(origin, path, method, operation));
