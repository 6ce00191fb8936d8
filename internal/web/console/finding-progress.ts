// This file follows a decision that the server makes in the background.

import type { Client } from 'urql';
import { requestAgain } from './client';
import { DecisionProgress, StopDecision } from './generated/graphql';
import { said, say, type Message } from './said';
import { count, plural } from './words';

const pause = 2000, mostFailures = 5;

/**
 * Says how far an operation has come, until it has ended. A reader who closes the message, or leaves the page, reads only how it has
 * ended. It never takes the place of another message.
 */
export async function followDecision(client: Client, uid: string, total: number, tell: (n: number) => string) {
  let shown: Message | undefined, isStopped = false;
  const show = (far: string) => {
    const text = `The server is deciding about ${plural(total, 'finding')} in the background${far}${isStopped ? ', and stops soon' : ''}.`;
    if (text !== shown?.text) say(shown = { text, stop: isStopped ? undefined : stop });
  };
  const stop = () => {
    isStopped = true;
    void client.mutation(StopDecision, { input: { uid } } as never).toPromise();
    show('');
  };
  show('');
  for (let failures = 0; failures < mostFailures;) {
    await new Promise((done) => { setTimeout(done, pause); });
    const { data } = await client.query(DecisionProgress, { uid } as never, { requestPolicy: 'network-only' }).toPromise(), now = data?.operation;
    const isOurs = said() === shown;
    if (!now) { failures++; continue; }
    failures = 0;
    if (!now.done) {
      if (isOurs) show(`: ${count(now.records)} done (${now.progressPercent}%)`);
      continue;
    }
    requestAgain();
    if (!isOurs && said()) return;
    if (now.state === 'SUCCEEDED') say({ text: `${tell(now.records)}. You cannot undo this.` });
    else if (now.state === 'CANCELLED') say({ text: `Stopped. What was decided stays: ${plural(now.records, 'finding')}.` });
    else say({ text: `The server decided about ${plural(now.records, 'finding')}, and then failed: ${now.error?.message ?? ''}`, refused: true });
    return;
  }
  if (said() === shown) say({ text: 'The progress of the decision cannot be loaded. The server may still be at work.', refused: true });
}
