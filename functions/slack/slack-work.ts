import * as z from 'zod'
import { functionHandler } from '../handler.ts'
import { decideClick } from './decide-click.ts'
import { tellRun } from './tell-run.ts'

const text = z.string().min(1)

const ClickSchema = z.strictObject({
  team: text,
  user: text,
  channel: text,
  message_ts: text,
  at: text,
  approval_id: text,
  decision: z.enum(['approve', 'reject', 'waive']),
  digest: text,
  feedback: text.optional(),
})

/** What Slack is owed after the answer: the decision somebody clicked, and what a run has to say. */
export const handler = functionHandler({
  name: 'slack-work',
  input: z.union([
    z.strictObject({ tenant: text, click: ClickSchema }),
    z.strictObject({ run: z.strictObject({ tenant: text, run_id: text }), entry: text }),
  ]),
  async run(work, world) {
    if (!('click' in work)) return tellRun(world, work.run)
    const { feedback, ...click } = work.click
    await decideClick(world, work.tenant, feedback === undefined ? click : { ...click, feedback })
    return {}
  },
})
