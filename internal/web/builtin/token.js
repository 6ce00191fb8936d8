// This file controls the header of the pages that send requests: the token, and the other parts of the header.

const $ = (id) => document.getElementById(id);
const key = 'atrium.token';

/** These are the settings that the server wrote into the page. */
export const settings = JSON.parse($('settings').textContent);

/** These examples are open at the first visit. The menu of examples has all of them. */
export const openExamples = (settings.examples ?? []).slice(0, 4);

/** Returns the bearer token for requests, or '' if there is none. */
export const token = () => $('token').value.trim();

// A token that the reader types lives as long as the tab of the browser. A token of the server comes with each load of the page,
// because it expires.
const typed = sessionStorage.getItem(key);
$('token').value = typed ?? settings.token;
if (typed) $('token-note').textContent = ''; // The page says that the server filled in its own.

$('token').addEventListener('input', () => {
  if (token()) sessionStorage.setItem(key, token()); else sessionStorage.removeItem(key);
  note('');
});

$('reveal').addEventListener('click', () => {
  const covered = $('token').classList.toggle('covered');
  $('reveal').textContent = covered ? 'Show' : 'Hide';
});

function note(text, refused = false) {
  $('token-note').textContent = text;
  $('token-note').classList.toggle('refused', refused);
  $('token').ariaInvalid = String(refused);
  $('renew').hidden = !refused || !settings.token;
}

/** Says in the header that the server does not accept the token, if an answer says so. */
export function noteRefusal(answer) {
  const refused = answer?.errors?.find(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  if (refused) note(token() ? `Token not accepted: ${refused.message}` : 'Enter a token', true);
  else if ($('token-note').classList.contains('refused')) note('');
}

// A new copy of the page from the server has a new token.
$('renew').addEventListener('click', async () => {
  const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), 'text/html');
  $('token').value = JSON.parse(page.getElementById('settings').textContent).token;
  sessionStorage.removeItem(key);
  note('Filled in for development');
  $('token').dispatchEvent(new Event('change'));
});

// The request for the schema needs the token, which a link cannot send.
$('sdl').addEventListener('click', async (event) => {
  event.preventDefault();
  const response = await fetch($('sdl').href, { headers: token() ? { Authorization: 'Bearer ' + token() } : {} });
  if (!response.ok) { note('Enter a valid token to get the schema', true); return; }
  const url = URL.createObjectURL(new Blob([await response.text()], { type: 'text/plain' }));
  Object.assign(document.createElement('a'), { href: url, download: 'schema.graphql' }).click();
  URL.revokeObjectURL(url);
});

// On a narrow screen, a page shows one of its panes.
for (const button of document.querySelectorAll('[data-pane]')) button.addEventListener('click', () => showPane(button.dataset.pane));

/** Shows a pane on screens that have room for only one. */
export function showPane(name) {
  document.body.dataset.shown = name;
  for (const button of document.querySelectorAll('[data-pane]')) button.ariaPressed = String(button.dataset.pane === name);
}
if (document.querySelector('[data-pane]')) showPane('query');
