import * as z from 'zod'
import { STAGES } from '../../shared/research/stage.ts'
import { MachineInputSchema } from '../runs/machine-input.ts'

/** What the machine of the chain calls a stage with (shared/research/research-machine.ts). */
export const StageInputSchema = z.strictObject({
  in: MachineInputSchema,
  /** 0, 1, 2 ..: the chain's own count of the stages it went through. */
  step: z.int().min(0).max(999),
  /** State of the chain after the step before; '' before the first. */
  ref: z.string().max(300),
  /** The stage before it failed for good: this is about the error's name. */
  failed: z.strictObject({ stage: z.enum(STAGES), error: z.string().max(200) }).nullish(),
  /** No model is asked: the answer that asked one failed. */
  plain: z.boolean().default(false),
})

export type StageInput = z.output<typeof StageInputSchema>
