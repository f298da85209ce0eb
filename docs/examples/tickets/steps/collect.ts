import { defineStep, Fail } from 'sluice'
import * as z from 'zod'

const ticket = z.record(z.string(), z.string())
const verdict = z.object({ id: z.string(), priority: z.enum(['low', 'normal', 'urgent']) })

/** Puts the verdicts beside the tickets they are about, and says in a line what came of them. */
export default defineStep({
  inputs: z.object({ tickets: z.array(ticket), judged: z.array(z.array(verdict)) }),
  outputs: z.object({ rows: z.array(ticket), summary: z.string() }),
  run({ inputs: { tickets, judged } }) {
    const verdicts = new Map(judged.flat().map(({ id, priority }) => [id, priority]))
    const rows = tickets.map((one) => {
      const priority = verdicts.get(one.id ?? '')
      if (priority === undefined) throw new Fail(`ticket ${one.id} was never judged`)
      return { ...one, priority }
    })
    const count = (priority: string) => rows.filter((row) => row.priority === priority).length
    return {
      rows,
      summary: `${rows.length} tickets: ${count('urgent')} urgent, ${count('normal')} normal, ${count('low')} low`,
    }
  },
})
