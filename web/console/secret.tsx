import type { ReactNode } from 'react';
import { CopyButton, Dialog } from './ui';

/** Something that is shown once: it stays until the reader says that it is kept. */
export function Secret({ title, secret, onClose, children }: { title: string; secret?: string; onClose: () => void; children: ReactNode }) {
  return (
    <Dialog open={secret !== undefined} onClose={onClose} onLeave={() => false} label={title} className="form">
      <div>
        <header><h2>{title}</h2></header>
        <div className="fields"><p>{children}</p><div className="secret"><code>{secret}</code><CopyButton text={secret ?? ''} label="Copy it" /></div></div>
        <footer><span className="grow" /><button type="button" className="primary" onClick={onClose}>I have kept it</button></footer>
      </div>
    </Dialog>
  );
}
