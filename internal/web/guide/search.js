// This file searches the guide. Its index has a section for each heading: page, anchor, heading and text. The index is read when the
// reader first uses the box. Without scripts there is no box.

const form = document.getElementById('search'), box = document.getElementById('words');
const count = document.getElementById('count'), list = document.getElementById('found');
const most = 12; // places that are shown
const before = 40, after = 120; // letters of the text around the first word that are shown

let index;

/** Reads the index once. After a failure it is read again. */
function readIndex() {
  index ??= fetch('/guide/search.json').then(async (answer) => {
    if (!answer.ok) throw new Error(answer.statusText);
    const sections = await answer.json();
    const titles = new Map();
    for (const { page, heading } of sections) if (!titles.has(page)) titles.set(page, heading);
    return sections.map((section) => ({ ...section, title: titles.get(section.page), folded: ['heading', 'text'].map((field) => section[field].toLowerCase()) }));
  }).catch((problem) => { index = undefined; throw problem; });
  return index;
}

const letter = /[\p{L}\p{N}]/u;

/** Returns how well a text has a word: 3 as a whole word, 2 at the start of one, 1 inside of one, and 0 not at all. */
function fit(text, word) {
  let best = 0;
  for (let at = text.indexOf(word); at >= 0 && best < 3; at = text.indexOf(word, at + 1)) {
    const starts = !letter.test(text[at - 1] ?? ' '), ends = !letter.test(text[at + word.length] ?? ' ');
    best = Math.max(best, starts ? (ends ? 3 : 2) : 1);
  }
  return best;
}

/** Returns the sections that have most of the words, the best first. Words of headings count more than those of texts. */
function rank(sections, words) {
  const ranked = sections.map((section) => {
    const [heading, text] = section.folded, title = section.title.toLowerCase();
    const points = words.map((word) => 10 * fit(heading, word) + 4 * fit(title, word) + fit(text, word));
    return { section, had: points.filter(Boolean).length, points: points.reduce((sum, one) => sum + one, 0) };
  });
  const had = Math.max(...ranked.map((one) => one.had));
  return had === 0 ? [] : ranked.filter((one) => one.had === had).sort((a, b) => b.points - a.points).map(({ section }) => section);
}

const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

/** Returns the piece of a text around its first word that was asked for, with the words marked. */
function excerpt({ text, folded }, words) {
  const first = Math.min(...words.map((word) => folded[1].indexOf(word)).filter((at) => at >= 0), text.length);
  const start = first === text.length || first < before ? 0 : text.indexOf(' ', first - before) + 1;
  const end = start + before + after, piece = text.length <= end ? text.slice(start) : text.slice(start, Math.max(text.lastIndexOf(' ', end), start + after)) + ' …';
  const low = piece.toLowerCase();
  const parts = [start > 0 ? '… ' : ''];
  let at = 0;
  while (at < piece.length) {
    const [next, word] = words.map((one) => [low.indexOf(one, at), one]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0] ?? [piece.length, ''];
    parts.push(piece.slice(at, next), word && element('mark', {}, piece.slice(next, next + word.length)));
    at = next + Math.max(word.length, 1);
  }
  return element('span', {}, ...parts);
}

const close = () => { list.hidden = true; };

async function search() {
  const asked = box.value, words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) { close(); count.textContent = ''; return; }
  let found;
  try {
    found = rank(await readIndex(), words);
  } catch {
    count.textContent = 'no answer';
    return;
  }
  if (asked !== box.value) return; // A later search shows what it finds.
  list.replaceChildren(...found.slice(0, most).map((section) => element('li', {}, element('a', { href: `/guide/${section.page}${section.anchor && '#' + section.anchor}` },
    element('strong', {}, section.heading), section.anchor ? element('small', {}, section.title) : '', excerpt(section, words)))));
  list.hidden = found.length === 0;
  count.textContent = found.length === 0 ? 'none' : `${found.length} found`;
}

/** Moves between the box and the places. */
function move(by) {
  const stops = [box, ...list.querySelectorAll('a')];
  stops[stops.indexOf(document.activeElement) + by]?.focus();
}

form.hidden = false;
box.addEventListener('focus', () => { readIndex().catch(() => undefined); });
box.addEventListener('input', search);
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  await search();
  if (!list.hidden) list.querySelector('a').click();
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (list.hidden) return;
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Escape') {
    close();
    box.focus();
  }
});
list.addEventListener('click', close); // A place on this page loads nothing.
document.addEventListener('pointerdown', ({ target }) => { if (!form.contains(target)) close(); });
form.addEventListener('focusout', ({ relatedTarget }) => { if (relatedTarget && !form.contains(relatedTarget)) close(); });
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, [contenteditable]')) return;
  event.preventDefault();
  box.focus();
});
