// Reads GraphQL over server-sent events: yields the text of each `next` event until the `complete` event or the end of the stream.
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        const field = (name) => block.split('\n').filter((line) => line.startsWith(name + ':')).map((line) => line.slice(name.length + 1).trim()).join('\n');
        if (field('event') === 'complete') return;
        if (field('data')) yield field('data');
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // This fails if the request was aborted.
  }
}
