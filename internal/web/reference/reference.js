// This file shows the document that the page names with Swagger UI, which sends requests with the token of the header. Beside it is a list
// of the operations (contents.js), and each operation has samples (samples.js).

import { noteRefusal, settings, token } from '/playground/token.js';
import { addressOf, listOperations, markCurrent, operationsOf } from './contents.js';
import { names, sample } from './samples.js';

const $ = (id) => document.getElementById(id);
const dark = matchMedia('(prefers-color-scheme: dark)');
const adoptColors = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
adoptColors();
dark.addEventListener('change', adoptColors);

// The language that the reader chose is that of all samples, also after a reload.
const chosen = 'atrium.reference.language';

/** Swagger UI shows what this plugin adds above the responses of an operation: a request, in a language that the reader chooses. */
const samples = ({ React, specSelectors }) => ({
  wrapComponents: {
    // Swagger UI begins with headings of the third level.
    operations: (Original) => (props) => React.createElement(React.Fragment, null, React.createElement('h2', { className: 'sr' }, 'Operations'), React.createElement(Original, props)),
    responses: (Original) => function WithSamples(props) {
      const { createElement: h, useState, Fragment } = React, { path, method } = props;
      const [language, setLanguage] = useState(localStorage.getItem(chosen) ?? names[0]);
      const text = sample(names.includes(language) ? language : names[0], location.origin, path, method, specSelectors.specJson().getIn(['paths', path, method]).toJS());
      const choose = (name) => { localStorage.setItem(chosen, name); setLanguage(name); };
      return h(Fragment, null,
        h('section', { className: 'samples', 'aria-label': 'Samples' },
          h('div', { role: 'group', 'aria-label': 'Language' }, ...names.map((name) => h('button', { key: name, type: 'button', 'aria-pressed': name === language, onClick: () => choose(name) }, name))),
          h('pre', { tabIndex: 0, 'aria-label': `${language} sample` }, text)),
        h(Original, props));
    },
  },
});

let spec;
/** Lists the operations when the document has arrived. */
function fillContents() {
  spec = ui.getSystem().specSelectors.specJson().toJS();
  listOperations(spec, $('list'), $('find'), $('found'));
  openOperation();
  $('servers')?.setAttribute('aria-label', 'Server'); // Screen readers need a name for it.
  new MutationObserver(() => { // They need one for the choices of parameters, too.
    for (const choice of document.querySelectorAll('.parameters-col_description > select:not([aria-label])')) choice.setAttribute('aria-label', choice.closest('tr').dataset.paramName);
  }).observe($('reference'), { childList: true, subtree: true });
  // The operations are the main part of the page. What is before them has names, so that screen readers can go there.
  document.querySelector('.information-container section')?.setAttribute('aria-label', 'About');
  document.querySelector('section.schemes')?.setAttribute('aria-label', 'Server and token');
}

const ui = globalThis.SwaggerUIBundle({
  onComplete: fillContents,
  domNode: $('reference'),
  url: settings.document,
  deepLinking: false, // It finds no operation whose tag contains a slash, and puts links into buttons. openOperation does the same.
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  showExtensions: true,
  validatorUrl: null, // A validator would send the document to another host.
  plugins: [samples],
  requestInterceptor: (request) => {
    if (token() && !request.loadSpec && !request.headers.Authorization) request.headers.Authorization = 'Bearer ' + token();
    return request;
  },
  responseInterceptor: (response) => {
    noteRefusal(response.status === 401 ? { errors: [{ message: response.body?.message ?? 'it has expired', extensions: { code: 'UNAUTHENTICATED' } }] } : {});
    return response;
  },
});

/** Opens the operation that the address names. */
function openOperation() {
  markCurrent($('list'));
  const named = operationsOf(spec).find((one) => addressOf(one) === location.hash);
  if (!named) return;
  const [tag] = named.tags;
  ui.getSystem().layoutActions.show(['operations-tag', tag], true);
  ui.getSystem().layoutActions.show(['operations', tag, named.operationId], true);
  setTimeout(() => {
    const shown = document.querySelector(`.opblock[id$='-${named.operationId}']`);
    shown?.scrollIntoView();
    shown?.querySelector('.opblock-summary-control')?.focus({ preventScroll: true }); // The keyboard and screen readers continue there.
  }, 50); // React shows it a moment later.
}
addEventListener('hashchange', openOperation);
$('list').addEventListener('click', (event) => { if (event.target.closest('a')?.hash === location.hash) openOperation(); });
