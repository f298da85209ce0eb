import * as z from 'zod'
import { describeValue, listed, quoted, suggest } from '../text/wording.ts'

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
  return `a status of a task is one of ${listed(STATUSES)}, saw ${describeValue(seen)}${hint}`
}

/** A move somebody wants: what is not given stays as it is, but for the notes, which belong to one move. */
interface WantedMove {
  readonly to: TaskStatus
  readonly assigned?: string
  readonly notes: string
}

/** `reason`: why the task cannot be moved so from where it stands, whatever its gates say. */
type TaskAfter =
  | { readonly ok: true; readonly task: Omit<Task, 'moves'> }
  | { readonly ok: false; readonly reason: string }

/** Moves a task keeps in mind: more than any run of bounces makes. */
const KEPT_MOVES = 100

/**
 * From where each status is reached. Work is never done but by way of its review; PENDING begins anew from anywhere,
 * also where there is no task yet.
 */
const FROM: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  PENDING: ['PENDING', 'IN_PROGRESS', 'REVIEW', 'DONE'],
  IN_PROGRESS: ['PENDING', 'REVIEW'],
  REVIEW: ['IN_PROGRESS'],
  DONE: ['REVIEW'],
}

/**
 * The task as the move would leave it: what its gates judge. A move back from review is a bounce; a task that was done
 * begins its next cycle with none.
 */
export function taskAfterMove(before: Task | undefined, { to, assigned, notes }: WantedMove): TaskAfter {
  if (before === undefined && to !== 'PENDING') {
    return { ok: false, reason: `there is no task yet: a block that moves it to PENDING has to come first` }
  }
  if (before !== undefined && !FROM[to].includes(before.status)) {
    return { ok: false, reason: `it is ${before.status}, and ${to} is reached from ${FROM[to].join(' or ')}` }
  }
  const bounces = before === undefined || (before.status === 'DONE' && to === 'PENDING') ? 0 : before.bounce_count
  return {
    ok: true,
    task: {
      status: to,
      assigned: assigned ?? before?.assigned ?? '',
      notes,
      bounce_count: bounces + (before?.status === 'REVIEW' && to === 'IN_PROGRESS' ? 1 : 0),
    },
  }
}

/** The moves of a task and one more. */
export function appendMove(before: Task | undefined, move: TaskMove): Task['moves'] {
  return [...(before?.moves ?? []), move].slice(-KEPT_MOVES)
}
