import { expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

/** The documents of dags/ that bring their data along, as they are deployed: nothing is given but their names. */
const aws = shippedStack()

/** Approves what the run asks, and waits for its end. */
async function runToEnd(name: string): Promise<{ readonly id: string; readonly end: RunEvent | undefined }> {
  const id = await aws.caller.start({ name })
  for (let seq = 0; ; ) {
    const isNews = (event: RunEvent) => isEnd(event) || (event.type === 'approval:requested' && event.seq > seq)
    const news = (await aws.caller.until(id, isNews)).find(isNews)
    if (news === undefined || isEnd(news)) return { id, end: news }
    await aws.caller.decide(id, news, 'approve')
    seq = news.seq
  }
}

test.each([
  ['incident-postmortem', 'postmortem.md', '9 of 23 runs of nightly-digest failed (39 %)'],
  ['release-notes', 'release-notes.md', 'Child runs survive kill -9 at every step'],
  ['name-translations', 'name-translations.md', 'Szamoa = American Samoa, Samoa'],
  ['licence-review', 'licence-review.md', '| world-countries | ODbL-1.0 | share-alike |'],
  ['dependency-review', 'dependency-review.md', '# Review of 24 packages'],
  ['city-quality', 'reports/city-quality.md', '70.7 percent of the rows pass every rule'],
  ['ticket-table', 'tickets.csv', "T-208;2026-11-05;errors;false;true;600;birch;'-5 degrees are read as a text"],
  ['support-agent', 'letter.txt', 'The receipt is R-1043.'],
  ['refund', 'receipt.txt', 'Order A-1042: 29 paid back.'],
  ['order-follow-up', 'packing-slip.txt', 'Order A-1042, paid: 84.5. It may leave.'],
  ['ticket-triage', 'queues.md', '- T-101 (acme), urgent, answered'],
])(
  '%s runs to its end and leaves %s as in every other place',
  async (name, artifact, line) => {
    const { id, end } = await runToEnd(name)
    expect(end).toMatchObject({ type: 'run:completed' })
    const { text } = await aws.caller.call('GET', `/api/dag/runs/${id}/artifacts/${artifact}`)
    expect(text).toContain(line)
  },
  90_000,
)

test('ticket-reply answers out of its handbook', async () => {
  const { end } = await runToEnd('ticket-reply')
  expect(end).toMatchObject({ type: 'run:completed' })
}, 60_000)
