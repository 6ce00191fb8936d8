// This file keeps the filters of lists under names. The browser has them for each person, and an address has each for others.

import { useState, type FormEvent } from 'react';
import { Link, useLocation } from './router';
import { subject } from './session';
import { CopyButton, Dialog, Empty, Icon } from './ui';

interface View { page: string; name: string; search: string }
const keyOf = () => `atrium.console.views ${subject()}`;

function readViews(): View[] {
  try {
    return (JSON.parse(localStorage.getItem(keyOf()) ?? '[]') as View[]).filter(({ name, search }) => typeof name === 'string' && typeof search === 'string');
  } catch {
    return []; // Somebody else has written there.
  }
}

// An address names the place of a reader who does not see all groups. It is no part of a view, which fits every group.
const places = ['group', 'repo', 'kind'];
const without = (search: URLSearchParams, names: string[]) => new URLSearchParams([...search].filter(([name]) => !names.includes(name)));

/** This button lists the views of a page, and stores the filters that the page has now as another. */
export function Views({ page }: { page: string }) {
  const { search, path } = useLocation(), [open, setOpen] = useState(false), [views, setViews] = useState(readViews), [name, setName] = useState('');
  const here = without(search, places), place = without(search, [...here.keys()]), own = views.filter((one) => one.page === page);
  const addressOf = (view: string) => `${location.pathname}?${new URLSearchParams([...place, ...new URLSearchParams(view)])}`;
  const keep = (next: View[]) => { localStorage.setItem(keyOf(), JSON.stringify(next)); setViews(next); };
  const save = (event: FormEvent) => {
    event.preventDefault();
    keep([...views.filter((one) => one.page !== page || one.name !== name.trim()), { page, name: name.trim(), search: here.toString() }]);
    setName('');
  };
  const current = own.find((one) => one.search === here.toString() && one.search !== '');
  return (
    <>
      <button type="button" className="views-button" aria-haspopup="dialog" onClick={() => { setViews(readViews()); setOpen(true); }}><Icon name="bookmark" />{current ? current.name : 'Views'}</button>
      <Dialog open={open} onClose={() => setOpen(false)} label="Views" className="form">
        <div>
          <header><h2>Views of this page</h2><button type="button" className="icon-button" aria-label="Close" onClick={() => setOpen(false)}><Icon name="close" /></button></header>
          {own.length === 0 ? <Empty title="No views yet">A view stores the filters and the order of this page under a name, in this browser. To share a view, copy its address.</Empty>
            : <ul className="plain views" key={path}>{own.map((one) => (
              <li key={one.name}><Link to={addressOf(one.search)} onClick={() => setOpen(false)} aria-current={one === current ? 'true' : undefined}>{one.name}</Link>
                <CopyButton text={location.origin + addressOf(one.search)} label={`Copy the address of ${one.name}`} />
                <button type="button" className="icon-button" aria-label={`Delete the view ${one.name}`} title={`Delete the view ${one.name}`} onClick={() => keep(views.filter((other) => other !== one))}><Icon name="bin" /></button></li>
            ))}</ul>}
          <form onSubmit={save}>
            <label htmlFor="view-name">Save the current filters and order as</label>
            <div className="beside"><input id="view-name" type="text" value={name} maxLength={60} onChange={(event) => setName(event.target.value)} autoComplete="off" /><button type="submit" className="primary" disabled={name.trim() === '' || here.size === 0}>Save</button></div>
            {here.size === 0 && <p className="dim">This page has no filter or order to save. Choose one first.</p>}
          </form>
        </div>
      </Dialog>
    </>
  );
}
