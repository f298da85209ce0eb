import * as z from 'zod'
import { suggest } from '../dag/suggest.ts'
import { listed, quoted, shown } from '../dag/wording.ts'

/** Closed: a gate or a block that names another one is refused where it is read. */
const STATUSES = ['PENDING', 'IN_PROGRESS', 'REVIEW', 'DONE'] as const
export type TaskStatus = (typeof STATUSES)[number]

export const TaskStatusSchema = z.enum(STATUSES, { error: ({ input }) => statusWords(input) })

/** One move that was made: by whom, and in which version of the run's context it is written. */
const MoveSchema = z.strictObject({
  run_id: z.string(),
  block_id: z.string(),
  epoch: z.int().min(0),
  /** null: there was no task before. */
  from: TaskStatusSchema.nullable(),
  to: TaskStatusSchema,
  version: z.int().min(1),
})
export type TaskMove = z.infer<typeof MoveSchema>

/** The task of a run: value `task` of its shared context, written by blocks with the handler move-task alone. */
export const TaskSchema = z.strictObject({
  status: TaskStatusSchema,
  /** Who works on it; '' = nobody. */
  assigned: z.string(),
  /** What was said with its last move. */
  notes: z.string(),
  /** Moves REVIEW -> IN_PROGRESS since it began. */
  bounce_count: z.int().min(0),
  /** The newest last. */
  moves: z.array(MoveSchema).min(1).max(100),
})
export type Task = z.infer<typeof TaskSchema>

function statusWords(seen: unknown): string {
  const near = typeof seen === 'string' ? suggest(seen, STATUSES) : undefined
  const hint = near === undefined ? '' : `. Did you mean ${quoted(near)}?`
  return `a status of a task is one of ${listed(STATUSES)}, saw ${shown(seen)}${hint}`
}
