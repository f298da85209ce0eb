import * as z from 'zod'
import type { MachineInput } from '../../shared/runs/machine.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'

/** The execution input as every state passes it on in `in` (docs/architecture.md, "From document to machine"). */
export const MachineInputSchema: z.ZodType<MachineInput> = z.strictObject({
  v: z.literal(1),
  tenant: z.string().min(1),
  run_id: z.string().regex(/^run_[0-9a-z]{26}$/),
})

/** The run an execution input names. */
export function runOf(input: MachineInput): RunKey {
  return { tenant: input.tenant, run_id: input.run_id }
}
