import * as z from 'zod'
import type { Gate } from '../gate.ts'

const RefuseSchema = z.strictObject({ reason: z.string().min(1).max(2_000) })
type Refuse = z.infer<typeof RefuseSchema>

/** What stands in the way of a tool's call is told with it (shared/agents/agent-blocks.ts). */
export const refuse: Gate<Refuse> = {
  type: 'refuse',
  summary: 'Never passes; `reason` says why. With `on_fail: ask` a person has to let the block go on.',
  params: RefuseSchema,
  reads: () => [],
  examples: [{ check: { reason: 'This block waits for a word of the legal team.' }, passes: false }],
  check: ({ reason }) => ({ passed: false, reason, facts: {} }),
}
