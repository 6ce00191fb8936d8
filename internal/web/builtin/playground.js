// This is the built-in playground page: the reader writes a query, runs it, and reads the answer. It needs no framework or build.

import { newestEvents } from './events.js';
import { noteRefusal, openExamples, settings, showPane, token } from './token.js';

const $ = (id) => document.getElementById(id);
const params = new URLSearchParams(location.search);

// ---- This part colors text. One pattern works for GraphQL and JSON: it finds comments, texts, values, keywords and names.

const lexeme = new RegExp([
  /(?<note>#[^\n]*)/,
  /(?<text>"""[\s\S]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*"?)/,
  /(?<value>[$@]\w+|-?\b\d[\d.eE+-]*|\b(?:true|false|null)\b)/,
  /(?<word>\b(?:query|mutation|subscription|fragment|on)\b)/,
  /(?<name>\b[A-Z]\w*)/,
].map((part) => part.source).join('|'), 'g');

// A text with more characters than this has no colors, because coloring it takes too long.
const colorLimit = 300_000;

function color(target, text, json = false) {
  target.textContent = '';
  if (text.length > colorLimit) { target.append(text); return; }
  let end = 0;
  for (const match of text.matchAll(lexeme)) {
    let kind = Object.keys(match.groups).find((group) => match.groups[group] !== undefined);
    if (json && kind === 'text' && text[match.index + match[0].length] === ':') kind = 'name';
    const span = document.createElement('span');
    span.className = kind;
    span.textContent = match[0];
    target.append(text.slice(end, match.index), span);
    end = match.index + match[0].length;
  }
  target.append(text.slice(end));
}

// ---- This part has the editors. An editor is a textarea over a colored copy of its text.

function editor(id, { json = false } = {}) {
  const area = $(id), copy = area.previousElementSibling;
  let tabLeaves = false; // After Escape, the Tab key leaves the editor, so that people who use only the keyboard are not trapped in it.

  // An empty last line has a height only if another line break follows it.
  const paint = () => color(copy, area.value + '\n', json);
  const insert = (text) => {
    // execCommand is deprecated, but nothing else keeps undo. setRangeText is for browsers that remove execCommand.
    if (!document.execCommand('insertText', false, text)) area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
    area.dispatchEvent(new Event('input'));
  };

  const indent = (back) => {
    const { selectionStart: start, selectionEnd: end, value } = area;
    if (start === end && !back) { insert('  '); return; }
    const from = value.lastIndexOf('\n', start - 1) + 1;
    const lines = value.slice(from, end);
    const moved = back ? lines.replace(/^ {1,2}|^\t/gm, '') : lines.replace(/^(?=.)/gm, '  ');
    if (moved === lines) return;
    area.setSelectionRange(from, end);
    insert(moved);
    const firstLine = moved.split('\n')[0].length - lines.split('\n')[0].length;
    area.setSelectionRange(start === end ? Math.max(from, start + firstLine) : from, from + moved.length - (start === end ? value.slice(start, end).length : 0));
  };

  area.addEventListener('input', paint);
  area.addEventListener('blur', () => { tabLeaves = false; });
  area.addEventListener('keydown', (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') { tabLeaves = true; return; }
    if (event.key === 'Tab' && !tabLeaves) {
      event.preventDefault();
      indent(event.shiftKey);
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      const before = area.value.slice(0, area.selectionStart);
      const margin = before.slice(before.lastIndexOf('\n') + 1).match(/^[ \t]*/)[0];
      const opened = /[{(\[]$/.test(before.trimEnd()) && !/\n\s*$/.test(before);
      insert('\n' + margin + (opened ? '  ' : ''));
    }
    if (event.key !== 'Tab' && event.key !== 'Shift') tabLeaves = false;
  });

  return {
    area,
    get text() { return area.value; },
    set text(value) { area.value = value; area.setSelectionRange(0, 0); paint(); },
  };
}

const query = editor('query');
const variables = editor('variables', { json: true });

// ---- This part has the tabs. A tab keeps its query, its variables and its last answer while the page is open.

const tabs = openExamples.map(({ name, query, variables }) => ({ name, query, variables }));
if (params.has('query')) tabs.unshift({ name: 'From the link', query: params.get('query'), variables: params.get('variables') ?? '' });
if (tabs.length === 0) tabs.push({ name: 'Query', query: '{\n  __typename\n}\n', variables: '' });
let open = null;

let made = 0;
function addTab(tab) {
  tab.button = document.createElement('button');
  tab.button.id = 'tab-' + made++;
  tab.button.type = 'button';
  tab.button.role = 'tab';
  tab.button.textContent = tab.name;
  tab.button.setAttribute('aria-controls', 'workspace');
  tab.button.addEventListener('click', () => show(tab));
  $('tabs').append(tab.button);
}
tabs.forEach(addTab);

$('examples')?.addEventListener('change', ({ target }) => {
  const example = settings.examples[target.value];
  target.value = '';
  if (!example) return;
  const tab = { name: example.name, query: example.query, variables: example.variables };
  tabs.push(tab);
  addTab(tab);
  show(tab);
});

$('tabs').addEventListener('keydown', (event) => {
  const here = tabs.indexOf(open), last = tabs.length - 1;
  const next = { ArrowRight: here === last ? 0 : here + 1, ArrowLeft: here === 0 ? last : here - 1, Home: 0, End: last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  show(tabs[next]);
  open.button.focus();
});

function show(tab) {
  if (tab === open) return;
  running?.abort();
  open = tab;
  for (const { button } of tabs) {
    button.ariaSelected = String(button === tab.button);
    button.tabIndex = button === tab.button ? 0 : -1;
  }
  $('workspace').setAttribute('aria-labelledby', tab.button.id);
  tab.button.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  query.text = tab.query;
  variables.text = tab.variables;
  fault('');
  link();
  answer(tab.answer ?? '');
  status(...(tab.status ?? ['']));
}

query.area.addEventListener('input', () => { open.query = query.text; link(); });
variables.area.addEventListener('input', () => { open.variables = variables.text; fault(''); link(); });

function link() {
  const to = new URLSearchParams({ query: query.text });
  if (variables.text.trim()) to.set('variables', variables.text);
  $('link').href = location.pathname + '?' + to;
}

// ---- This part runs queries.

let running = null; // This is the AbortController of the query that is running.

// Returns the operations of a document and where each one starts. It looks for keywords at the outermost level, and skips texts and
// comments.
function operations(text) {
  const found = [];
  let depth = 0;
  for (const match of text.matchAll(/#[^\n]*|"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|[{}()]|\b(query|mutation|subscription|fragment)\b\s*(\w+)?/g)) {
    if (/^[{(]$/.test(match[0])) depth++;
    else if (/^[})]$/.test(match[0])) depth--;
    else if (match[1] && match[1] !== 'fragment' && depth === 0) found.push({ type: match[1], name: match[2], start: match.index });
  }
  return found;
}

async function run() {
  if (running) { running.abort(); return; }

  let values;
  try {
    values = variables.text.trim() ? JSON.parse(variables.text) : undefined;
  } catch (problem) {
    fault('Not JSON: ' + problem.message);
    variables.area.focus();
    return;
  }

  // If there are several operations, the one with the cursor runs.
  const all = operations(query.text);
  const chosen = all.findLast(({ start }) => start <= query.area.selectionStart) ?? all[0];
  const stream = chosen?.type === 'subscription';
  const headers = {
    'Content-Type': 'application/json',
    'Accept': stream ? 'text/event-stream' : 'application/graphql-response+json, application/json;q=0.9',
  };
  if (token()) headers['Authorization'] = 'Bearer ' + token();

  const tab = open, stop = running = new AbortController(), started = performance.now();
  const took = () => Math.round(performance.now() - started) + ' ms';
  const say = (text, kind) => { tab.status = [text, kind]; if (tab === open) status(text, kind); };
  const put = (text) => { tab.answer = text; if (tab === open) answer(text); };
  button(true);
  put('');
  say(stream ? 'Waiting for events …' : 'Running …');
  try {
    const response = await fetch(settings.endpoint, {
      method: 'POST', headers, signal: stop.signal,
      body: JSON.stringify({ query: query.text, variables: values, operationName: all.length > 1 ? chosen.name : undefined }),
    });
    const outcome = response.status + ' ' + response.statusText;
    if (response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
      let count = 'no events';
      for await (const { received, shown } of newestEvents(response.body)) {
        noteRefusal(shown[0]);
        put(shown.map((event) => JSON.stringify(event, null, 2)).join('\n\n'));
        count = received + (received === 1 ? ' event' : ' events') + (received > shown.length ? `, the newest ${shown.length} are shown` : '');
        say(count + ' …', 'good');
      }
      say(`${count}, then the stream ended · ${took()}`, 'good');
    } else {
      const text = await response.text();
      put(pretty(text));
      noteRefusal(parsed(text));
      const faulty = !response.ok || hasErrors(text);
      say(`${outcome.trim()}${response.ok && faulty ? ', with errors' : ''} · ${took()} · ${size(text.length)}`, faulty ? 'bad' : 'good');
    }
  } catch (problem) {
    if (stop.signal.aborted) say('Stopped · ' + took());
    else { put('The server did not answer: ' + problem.message); say('No answer · ' + took(), 'bad'); }
  } finally {
    if (running === stop) { running = null; button(false); }
  }
}

// ---- This part shows the answer and the status.

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return undefined; }
}

function hasErrors(text) {
  const answered = parsed(text);
  return !answered || answered.errors?.length > 0;
}

function size(bytes) {
  return bytes < 1000 ? bytes + ' B' : bytes < 1e6 ? (bytes / 1e3).toFixed(1) + ' kB' : (bytes / 1e6).toFixed(1) + ' MB';
}

function answer(text) { color($('result'), text, true); }

function status(text, kind = '') {
  $('status').textContent = text;
  $('status').className = kind;
}

function fault(text) {
  $('variables-fault').textContent = text;
  variables.area.ariaInvalid = String(text !== '');
}

function button(busy) {
  $('run').classList.toggle('running', busy);
  $('run').firstChild.data = busy ? 'Stop' : 'Run ';
}

$('run').addEventListener('click', () => { if (!running) showPane('answer'); run(); });
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); if (!running) { showPane('answer'); run(); } }
});

if (settings.graphiql) {
  const full = Object.assign(document.createElement('a'), { href: '/playground', textContent: 'GraphiQL' });
  $('about').replaceChildren('This is the small page; there is also ', full, '.');
}

show(tabs[0]);
// The first example has its answer at once. The query of a link runs only when the reader starts it.
if (!params.has('query') && openExamples.length > 0 && token()) run();
