// Reads GraphQL over server-sent events: yields the text of each `next` event until the `complete` event or the end of the stream.
async function* events(body) {
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

const mostShown = 100;
const interval = 100; // in milliseconds

/**
 * Reads events, and yields how many have arrived and the newest of them, the newest first. Events that arrive within an interval are
 * yielded together, because to show an event takes longer than to receive it.
 */
export async function* newestEvents(body) {
  const source = events(body), newest = [];
  let received = 0, next = source.next();
  while (!(await next).done) {
    const end = new Promise((resolve) => setTimeout(resolve, interval));
    for (let event = await next; event && !event.done; event = await Promise.race([next, end])) {
      received++;
      newest.unshift(JSON.parse(event.value));
      newest.length = Math.min(newest.length, mostShown);
      next = source.next();
    }
    yield { received, shown: [...newest] };
  }
}
