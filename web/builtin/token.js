// The header of the pages that ask: the token, and what else is wired in it.

const $ = (id) => document.getElementById(id);
const key = 'atrium.token';

/** The data that the server put into the page. */
export const settings = JSON.parse($('settings').textContent);

/** The bearer token to ask with; '' for none. */
export const token = () => $('token').value.trim();

// What the reader types lives as long as the browser's tab; a token from the server is asked for anew each time
// the page loads, because it expires.
const typed = sessionStorage.getItem(key);
$('token').value = typed ?? settings.token;
if (!typed && settings.token) $('token-note').textContent = 'Filled in for development';

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

/** Says in the header that a token is not taken, where that is what an answer says. */
export function noteRefusal(answer) {
  const refused = answer?.errors?.find(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');
  if (refused) note(token() ? `This token is not taken: ${refused.message}` : 'A token is needed', true);
  else if ($('token-note').classList.contains('refused')) note('');
}

// The page that the server makes anew has a new token.
$('renew').addEventListener('click', async () => {
  const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), 'text/html');
  $('token').value = JSON.parse(page.getElementById('settings').textContent).token;
  sessionStorage.removeItem(key);
  note('Filled in for development');
  $('token').dispatchEvent(new Event('change'));
});

// The schema needs the token, which a link cannot bring.
$('sdl').addEventListener('click', async (event) => {
  event.preventDefault();
  const response = await fetch($('sdl').href, { headers: token() ? { Authorization: 'Bearer ' + token() } : {} });
  if (!response.ok) { note('The schema needs a token that is taken', true); return; }
  const url = URL.createObjectURL(new Blob([await response.text()], { type: 'text/plain' }));
  Object.assign(document.createElement('a'), { href: url, download: 'schema.graphql' }).click();
  URL.revokeObjectURL(url);
});

// On a narrow screen a page shows one of its panes.
for (const button of document.querySelectorAll('[data-pane]')) button.addEventListener('click', () => showPane(button.dataset.pane));

/** Shows a pane where there is room for one only. */
export function showPane(name) {
  document.body.dataset.shown = name;
  for (const button of document.querySelectorAll('[data-pane]')) button.ariaPressed = String(button.dataset.pane === name);
}
if (document.querySelector('[data-pane]')) showPane('query');
