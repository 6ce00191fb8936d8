// This file shows readmes. Markdown becomes React elements and never HTML: HTML in a readme is shown as text. Links lead only to
// the web. The page may not load images, so an image is shown as a link.

import { marked, type Token, type Tokens } from 'marked';
import { createElement, Fragment, type ReactNode } from 'react';

const followed = (href: string) => (/^(https?:|mailto:)/i.test(href) ? href : undefined);

const inline = (tokens?: Token[]): ReactNode => tokens?.map((token, i) => <Fragment key={i}>{shown(token)}</Fragment>);

function link(href: string, content: ReactNode) {
  const to = followed(href);
  return to ? <a href={to} target="_blank" rel="noreferrer noopener nofollow">{content}</a> : content;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const plain = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name]);

function shown(token: Token): ReactNode {
  switch (token.type) {
    case 'heading': return createElement(`h${Math.min(token.depth + 2, 6)}`, null, inline(token.tokens));
    case 'paragraph': return <p>{inline(token.tokens)}</p>;
    case 'text': return token.tokens ? inline(token.tokens) : plain(token.text);
    case 'escape': return plain(token.text);
    case 'strong': return <strong>{inline(token.tokens)}</strong>;
    case 'em': return <em>{inline(token.tokens)}</em>;
    case 'del': return <del>{inline(token.tokens)}</del>;
    case 'codespan': return <code>{plain(token.text)}</code>;
    case 'code': return <pre tabIndex={0}><code>{token.text}</code></pre>;
    case 'br': return <br />;
    case 'hr': return <hr />;
    case 'blockquote': return <blockquote>{inline(token.tokens)}</blockquote>;
    case 'link': return link(token.href, inline(token.tokens));
    case 'image': return link(token.href, `Image: ${token.text || token.href}`);
    case 'list': return createElement(token.ordered ? 'ol' : 'ul', token.ordered && token.start ? { start: token.start } : null,
      (token as Tokens.List).items.map((item, i) => <li key={i}>{item.task && <input type="checkbox" checked={item.checked} disabled aria-label={item.checked ? 'Done' : 'To do'} />}{inline(item.tokens)}</li>));
    case 'table': return (
      <div className="scroll" tabIndex={0} role="region" aria-label="Table"><table>
        <thead><tr>{(token as Tokens.Table).header.map((cell, i) => <th key={i}>{inline(cell.tokens)}</th>)}</tr></thead>
        <tbody>{(token as Tokens.Table).rows.map((row, i) => <tr key={i}>{row.map((cell, j) => <td key={j}>{inline(cell.tokens)}</td>)}</tr>)}</tbody>
      </table></div>
    );
    case 'html': return /^<!--/.test(token.raw) ? null : token.raw;
    case 'space': case 'def': return null;
    default: return 'tokens' in token && token.tokens ? inline(token.tokens) : plain(token.raw);
  }
}

export const Markdown = ({ text }: { text: string }) => <div className="markdown">{inline(marked.lexer(text, { gfm: true }))}</div>;
