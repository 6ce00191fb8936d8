// This file shows readmes. Markdown becomes React elements and never HTML: HTML in a readme is shown as text. Links lead only to
// the web. The page may not load images, so an image is shown as a link. A readme that would take too long to parse is shown as text.

import { Lexer, Tokenizer, type Token, type Tokens, type TokensList } from 'marked';
import { createElement, Fragment, memo, useEffect, useMemo, useState, type ReactNode } from 'react';
import { Boundary } from './boundary';

// A unit of work is about one character that the parser reads. The most work takes 0.2 s, and is twice that of 256 KB of ordinary
// readmes. Each token also costs some work, because the browser has to show it.
const mostWork = 5_000_000, mostDepth = 100, workOfToken = 50;

const container = /^ {0,3}(?:[*+>-]|\d{1,9}[.)])/, endOfContainer = /\n[ \t]*\n(?![ \t\n*+>-]|\d{1,9}[.)])/;

/** This parser counts its work, and throws an error at a text with too much work or depth. Many texts take quadratic time. */
class CountingLexer extends Lexer {
  work = 0;
  depth = 0;
  constructor() { super({ gfm: true, tokenizer: new CountingTokenizer() }); }

  count(work: number) {
    this.work += work;
    if (this.work > mostWork) throw new RangeError('the text takes too much work');
  }

  nest<Result>(src: string, parse: () => Result): Result {
    this.count(src.length + workOfToken);
    if (++this.depth > mostDepth) throw new RangeError('the text nests too deeply');
    const result = parse();
    this.depth--;
    return result;
  }

  override inline(src: string, tokens?: Token[]) {
    this.count(workOfToken);
    return super.inline(src, tokens);
  }

  // The parser first searches for links and code, and each bracket or backtick may take it to the end of the text.
  override inlineTokens(src: string, tokens?: Token[]): Token[] {
    this.count(src.length * (src.match(/[`[]/g)?.length ?? 0) / 4);
    return this.nest(src, () => super.inlineTokens(src, tokens));
  }

  override blockTokens(src: string, tokens?: TokensList, clipped?: boolean): TokensList {
    return this.nest(src, () => super.blockTokens(src, tokens, clipped) as TokensList);
  }
}

/** The parser calls space before it looks for each block, and escape before it looks for each token of a line. */
class CountingTokenizer extends Tokenizer {
  declare lexer: CountingLexer;

  // For each line of a list or a quote, the parser copies what it has read of it.
  override space(src: string) {
    const block = container.test(src) ? src.split(endOfContainer, 1)[0] : '';
    this.lexer.count(workOfToken + block.length * block.split('\n').length / 25);
    return super.space(src);
  }

  // The search for the end of an emphasis takes the longest.
  override escape(src: string) {
    this.lexer.count(src.length * (/^[*_~]/.test(src) ? 4 : 1));
    return super.escape(src);
  }
}

/** Returns the tokens of a readme, or undefined if it cannot be parsed with little work. */
function parse(text: string): Token[] | undefined {
  try {
    return new CountingLexer().lex(text);
  } catch {
    return undefined;
  }
}

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

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => parse(text), [text]), raw = <pre tabIndex={0}>{text}</pre>;
  return <div className="markdown">{tokens ? <Boundary content={text} instead={raw}><Shown tokens={tokens} /></Boundary> : raw}</div>;
});

const longText = 20_000;

/** This preview follows a text that the reader types. A long text takes the browser too long to show at each key. */
export function Preview({ text }: { text: string }) {
  const [shown, setShown] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setShown(text), text.length > longText ? 600 : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return <section className="preview" aria-label="Preview"><Markdown text={shown} /></section>;
}

const Shown = ({ tokens }: { tokens: Token[] }) => inline(tokens);
