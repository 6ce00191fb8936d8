import type { ReactNode } from 'react';
import { CopyButton, Dialog } from './ui';

/** This dialog shows a secret that is shown only once. It stays open until the reader says that they have kept the secret. */
export function Secret({ title, secret, link, onClose, children }: { title: string; secret?: string; link?: string; onClose: () => void; children: ReactNode }) {
  return (
    <Dialog open={secret !== undefined} onClose={onClose} onLeave={() => false} label={title} className="form">
      <div>
        <header><h2>{title}</h2></header>
        <div className="fields"><p>{children}</p><div className="secret"><code>{secret}</code><CopyButton text={secret ?? ''} label="Copy the secret" /></div>
          {link && <div className="secret"><code className="link">{link}</code><CopyButton text={link} label="Copy the link" /></div>}</div>
        <footer><span className="grow" /><button type="button" className="primary" onClick={onClose}>I have saved it</button></footer>
      </div>
    </Dialog>
  );
}
