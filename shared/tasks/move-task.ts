import type { Task, TaskMove, TaskStatus } from './task.ts'

/** A move somebody wants: what is not given stays as it is, but for the notes, which belong to one move. */
export interface WantedMove {
  readonly to: TaskStatus
  readonly assigned?: string
  readonly notes: string
}

/** `reason`: why the task cannot be moved so from where it stands, whatever its gates say. */
export type TaskAfter =
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
export function taskAfter(before: Task | undefined, { to, assigned, notes }: WantedMove): TaskAfter {
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
export function movesWith(before: Task | undefined, move: TaskMove): Task['moves'] {
  return [...(before?.moves ?? []), move].slice(-KEPT_MOVES)
}
