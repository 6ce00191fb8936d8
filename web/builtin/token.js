// The token field in the head of either page.

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
  $('token-note').textContent = '';
});

$('reveal').addEventListener('click', () => {
  const covered = $('token').classList.toggle('covered');
  $('reveal').textContent = covered ? 'Show' : 'Hide';
});
