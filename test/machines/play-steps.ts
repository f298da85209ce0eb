import type { Join, Steps } from '../../shared/compile/steps.ts'

/** What a machine of these steps costs to run, without the states every machine has. */
export interface Figures {
  /** State transitions: blocks, joins, Parallels. */
  readonly transitions: number
  /** History events: 5 a block, 6 a token wait, 4 a Parallel. */
  readonly events: number
  readonly joins: number
  readonly parallels: number
  readonly signals: number
}

export function figuresOf(steps: Steps): Figures {
  const rows: Steps[] = [steps]
  for (const row of rows) for (const step of row) if (step.kind === 'par') rows.push(...step.branches)
  const all = rows.flat()
  const waits = all.flatMap((step) => (step.kind === 'wait' ? [step.join] : []))
  const [joins, parallels] = [waits.length, all.filter(({ kind }) => kind === 'par').length]
  const blocks = all.length - joins - parallels
  const signals = waits.reduce((sum, { sources }) => sum + sources.length, 0)
  return { transitions: all.length, events: 5 * blocks + 6 * joins + 4 * parallels, joins, parallels, signals }
}

type Leave = (time: number) => void

interface Play {
  readonly durations: readonly number[]
  readonly starts: number[]
  readonly ends: number[]
  readonly due: (() => void)[]
  /** What stopped at a join, by a source that has not ended. */
  readonly stopped: Map<number, (() => void)[]>
}

/**
 * When each block starts, in virtual time: steps one after the other, branches at once, a join when its last source has
 * ended. Rows are played as far as what they wait for is known. A block that never starts has no entry.
 */
export function startsOf(steps: Steps, durations: readonly number[]): readonly number[] {
  const play: Play = { durations, starts: [], ends: [], due: [], stopped: new Map() }
  playRow(play, steps, 0, 0, () => undefined)
  for (let next = play.due.pop(); next !== undefined; next = play.due.pop()) next()
  return play.starts
}

function playRow(play: Play, row: Steps, from: number, at: number, leave: Leave): void {
  let time = at
  for (let i = from; i < row.length; i++) {
    const step = row[i]
    if (step?.kind === 'par') {
      playBranches(play, step.branches, time, (end) => playRow(play, row, i + 1, end, leave))
      return
    }
    if (step?.kind === 'wait' && missingOf(play, step.join) !== undefined) {
      const stopped = time
      stopUntil(play, step.join, () => playRow(play, row, i, stopped, leave))
      return
    }
    if (step?.kind === 'wait') time = lastOf(play, step.join, time)
    if (step?.kind === 'block') time = playBlock(play, step.block, time)
  }
  leave(time)
}

function missingOf({ ends }: Play, { sources }: Join): number | undefined {
  return sources.find((source) => ends[source] === undefined)
}

function playBlock({ durations, starts, ends, due, stopped }: Play, block: number, time: number): number {
  const end = time + (durations[block] ?? 0)
  starts[block] = time
  ends[block] = end
  due.push(...(stopped.get(block) ?? []))
  return end
}

function playBranches(play: Play, branches: readonly Steps[], time: number, leave: Leave): void {
  let open = branches.length
  let last = time
  for (const branch of branches) {
    playRow(play, branch, 0, time, (end) => {
      last = Math.max(last, end)
      open--
      if (open === 0) play.due.push(() => leave(last))
    })
  }
}

function stopUntil(play: Play, join: Join, goOn: () => void): void {
  const source = missingOf(play, join) ?? -1
  play.stopped.set(source, [...(play.stopped.get(source) ?? []), goOn])
}

function lastOf({ ends }: Play, { sources }: Join, time: number): number {
  return sources.reduce((last, source) => Math.max(last, ends[source] ?? 0), time)
}
