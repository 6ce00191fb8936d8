// Shows the document that the page names, with Swagger UI.
const reference = document.getElementById('reference');
SwaggerUIBundle({
  domNode: reference,
  url: reference.dataset.document,
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  showExtensions: true,
  validatorUrl: null, // which would send the document to another host
});
