import * as z from 'zod'
import type { Json } from '../text/json.ts'
import { TaskStatusSchema } from './task-status.ts'

/** What a gate of a task may read: its present status, and the rest as the move would leave it. */
export const TASK_PORTS = ['status', 'assigned', 'notes', 'bounce_count'] as const

const gateName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a letter, then letters, digits, _ or -, 64 at most')

/** One entry of `gates` in sluice.yaml; its check is judged in shared/document/task-gates.ts, where the gate types are known. */
export const TaskGateSettingsSchema = z.strictObject({
  name: gateName,
  /** The moves it stands before; a side that is not said is any. */
  on: z.strictObject({ from: TaskStatusSchema.optional(), to: TaskStatusSchema.optional() }),
  check: z.record(
    z.string(),
    z.custom<Json>(() => true),
  ),
  error: z.string().min(1).max(300),
})
export type TaskGateSettings = z.infer<typeof TaskGateSettingsSchema>

/** One entry of `pipelines` in sluice.yaml: which gates stand before the moves of one DAG's task. */
export const PipelineSettingsSchema = z.strictObject({
  /** The name of the DAG, as its document says. */
  dag: z.string().min(1).max(200),
  gates: z.array(gateName).max(20),
})
export type PipelineSettings = z.infer<typeof PipelineSettingsSchema>
