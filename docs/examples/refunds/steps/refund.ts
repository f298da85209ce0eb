import { defineStep, Fail } from 'sluice'
import * as z from 'zod'

export default defineStep({
  description: 'Pays an amount back for an order, in euros. Gives the number of the receipt.',
  inputs: z.object({ order: z.string().regex(/^A-\d+$/), amount: z.number().positive() }),
  outputs: z.object({ receipt: z.string() }),
  async run({ inputs, key, signal }) {
    const body = JSON.stringify({ what: 'refund', key, ...inputs })
    const answer = await fetch(`${process.env.LEDGER}/book`, { method: 'POST', body, signal })
    if (!answer.ok) throw new Fail(`the ledger says ${answer.status}`)
    return (await answer.json()) as { receipt: string }
  },
})
