// This file shows the document that the page names with Swagger UI, which sends requests with the token of the header.

import { noteRefusal, settings, token } from '/playground/token.js';

// Screen readers need a name for the list of servers.
function nameServers() {
  document.getElementById('servers')?.setAttribute('aria-label', 'Server');
}

globalThis.SwaggerUIBundle({
  onComplete: nameServers,
  domNode: document.getElementById('reference'),
  url: settings.document,
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  showExtensions: true,
  validatorUrl: null, // A validator would send the document to another host.
  requestInterceptor: (request) => {
    if (token() && !request.loadSpec && !request.headers.Authorization) request.headers.Authorization = 'Bearer ' + token();
    return request;
  },
  responseInterceptor: (response) => {
    noteRefusal(response.status === 401 ? { errors: [{ message: response.body?.message ?? 'it has expired', extensions: { code: 'UNAUTHENTICATED' } }] } : {});
    return response;
  },
});
