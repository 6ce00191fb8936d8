// GraphiQL formats the editors of JSON by Prettier with a whole parser of JavaScript. build.mjs gives Prettier this small
// plugin instead, which formats JSON with comments by the library that GraphiQL also parses it with.

import { applyEdits, format } from 'jsonc-parser';

const formatText = (text) => applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2 }));

export const parsers = { jsonc: { parse: (text) => ({ text }), astFormat: 'formatted-json', locStart: () => 0, locEnd: ({ text }) => text.length } };
export const printers = { 'formatted-json': { print: ({ node }) => formatText(node.text) } };
