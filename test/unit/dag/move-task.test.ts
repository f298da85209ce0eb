import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { appendMove, type Task, TaskSchema, type TaskStatus, taskAfterMove } from '../../../shared/dag/task-status.ts'

const STATUSES: readonly TaskStatus[] = ['PENDING', 'IN_PROGRESS', 'REVIEW', 'DONE']
const move = (from: TaskStatus | null, to: TaskStatus) => ({
  run_id: 'r',
  block_id: 'b',
  epoch: 0,
  from,
  to,
  version: 1,
})
const task = (status: TaskStatus, bounce_count = 0): Task => ({
  status,
  assigned: 'ana',
  notes: 'old',
  bounce_count,
  moves: [move(null, status)],
})

describe('taskAfter()', () => {
  test('allows exactly these moves', () => {
    const allowed = [undefined, ...STATUSES].flatMap((from) =>
      STATUSES.filter((to) => taskAfterMove(from && task(from), { to, notes: '' }).ok).map(
        (to) => `${from ?? 'none'} ${to}`,
      ),
    )
    expect(allowed).toEqual([
      'none PENDING',
      'PENDING PENDING',
      'PENDING IN_PROGRESS',
      'IN_PROGRESS PENDING',
      'IN_PROGRESS REVIEW',
      'REVIEW PENDING',
      'REVIEW IN_PROGRESS',
      'REVIEW DONE',
      'DONE PENDING',
    ])
  })

  test('says where it stands and from where the status is reached', () => {
    expect(taskAfterMove(task('PENDING'), { to: 'DONE', notes: '' })).toEqual({
      ok: false,
      reason: 'it is PENDING, and DONE is reached from REVIEW',
    })
    expect(taskAfterMove(undefined, { to: 'DONE', notes: '' })).toMatchObject({
      reason: expect.stringContaining('no task yet'),
    })
  })

  test('keeps who works on it, not the notes of the last move', () => {
    expect(taskAfterMove(task('PENDING'), { to: 'IN_PROGRESS', notes: '' })).toMatchObject({
      task: { assigned: 'ana', notes: '' },
    })
    expect(taskAfterMove(task('PENDING'), { to: 'IN_PROGRESS', notes: 'n', assigned: '' })).toMatchObject({
      task: { assigned: '', notes: 'n' },
    })
  })

  test('along any walk DONE comes from REVIEW, and bounces are the moves back from it in this cycle', () => {
    const walks = fc.array(fc.constantFrom(...STATUSES), { maxLength: 60 })
    fc.assert(
      fc.property(walks, (walk) => {
        const tasks = tasksAlong(walk)
        for (const task of tasks) expect(TaskSchema.safeParse(task).success).toBe(true)
        const moves = (tasks.at(-1)?.moves ?? []).map(({ from, to }) => `${from} ${to}`)
        expect(moves.filter((words) => words.endsWith(' DONE') && words !== 'REVIEW DONE')).toEqual([])
        const cycle = moves.slice(moves.lastIndexOf('DONE PENDING') + 1)
        const bounces = cycle.filter((words) => words === 'REVIEW IN_PROGRESS').length
        expect(tasks.at(-1)?.bounce_count ?? 0).toBe(bounces)
      }),
      { numRuns: 200 },
    )
  })

  test('the newest hundred moves are kept', () => {
    let now = task('PENDING')
    for (let version = 2; version <= 150; version += 1)
      now = { ...now, moves: appendMove(now, { ...move('PENDING', 'PENDING'), version }) }
    expect([now.moves.length, now.moves[0]?.version, now.moves.at(-1)?.version]).toEqual([100, 51, 150])
  })
})

/** The task after each move of a walk that is allowed. */
function tasksAlong(walk: readonly TaskStatus[]): readonly Task[] {
  const tasks: Task[] = []
  for (const to of walk) {
    const before = tasks.at(-1)
    const after = taskAfterMove(before, { to, notes: '' })
    if (after.ok) tasks.push({ ...after.task, moves: appendMove(before, move(before?.status ?? null, to)) })
  }
  return tasks
}
