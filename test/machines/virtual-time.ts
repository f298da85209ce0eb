import type { Machine, State, TaskState } from '../../shared/compile/asl.ts'

/** How long things take in a simulated run, in whole units. */
export interface Durations {
  /** Every try of a block; all but the last end in RetryBlock. */
  readonly tries: (block: string) => readonly number[]
  readonly secondsToRetry: number
  /** How long a person takes to decide about a block, the only time the block's approval state asks. */
  readonly decision: (block: string) => number
}

export interface SimulatedRun {
  /** When each block's first try began and its last try ended. */
  readonly started: ReadonlyMap<string, number>
  readonly ended: ReadonlyMap<string, number>
  /** How often each block was tried. */
  readonly tries: ReadonlyMap<string, number>
  /** Where and when the machine ended; undefined: it hangs. */
  readonly finished: { readonly state: string; readonly time: number } | undefined
}

/** Called when a state is left: with an error it goes where Catch says. */
type Leave = (time: number, error?: string) => void

interface Payload {
  readonly block: string
  readonly joins: readonly string[]
  readonly join: string
  readonly need: number
}

/**
 * Runs a machine in virtual time from its text alone: states one after the other as `Next` says, a Parallel ends with
 * its last branch, a join wakes its waiter once `need` different blocks have signalled it. Knows nothing of the compiler.
 */
export function simulate(machine: Machine, durations: Durations): SimulatedRun {
  const agenda: { readonly time: number; readonly act: Leave }[] = []
  const after = (time: number, act: Leave) => void agenda.splice(placeIn(agenda, time), 0, { time, act })
  const started = new Map<string, number>()
  const ended = new Map<string, number>()
  const tries = new Map<string, number>()
  const decided = new Set<string>()
  const done = new Map<string, Set<string>>()
  const waiting = new Map<string, { readonly need: number; readonly leave: Leave }>()
  let finished: SimulatedRun['finished']

  const wake = (join: string, time: number) => {
    const waiter = waiting.get(join)
    if (waiter === undefined || (done.get(join)?.size ?? 0) < waiter.need) return
    waiting.delete(join)
    after(time, waiter.leave)
  }
  const functions: Readonly<Record<string, (payload: Payload, time: number, leave: Leave) => void>> = {
    RunBlock({ block, joins }, time, leave) {
      const nth = (tries.get(block) ?? 0) + 1
      tries.set(block, nth)
      if (nth === 1) started.set(block, time)
      const all = durations.tries(block)
      const end = time + (all[nth - 1] ?? 0)
      if (nth < all.length) return after(end, (now) => leave(now, 'RetryBlock'))
      after(end, (now) => {
        ended.set(block, now)
        for (const join of joins) {
          done.set(join, (done.get(join) ?? new Set()).add(block))
          wake(join, now)
        }
        leave(now)
      })
    },
    WaitJoin({ join, need }, time, leave) {
      waiting.set(join, { need, leave })
      wake(join, time)
    },
    RequestApproval({ block }, time, leave) {
      const wait = decided.has(block) ? 0 : durations.decision(block)
      decided.add(block)
      after(time + wait, leave)
    },
    Settle: (_, time, leave) => after(time, leave),
  }
  const call = ({ Arguments }: TaskState, time: number, leave: Leave) => {
    const { FunctionName, Payload } = Arguments as { FunctionName: string; Payload: Payload }
    functions[FunctionName.slice(2, -1)]?.(Payload, time, leave)
  }
  const run = (branch: Machine, name: string, time: number, leave: (state: string, time: number) => void): void => {
    const state = branch.States[name]
    if (state === undefined) throw new Error(`no state ${name} here`)
    const go: Leave = (now, error) => {
      const next = error === undefined ? nextOf(state) : catcherOf(state, error)
      if (next === undefined) leave(name, now)
      else run(branch, next, now, leave)
    }
    if (state.Type === 'Parallel') runAll(state.Branches, time, go)
    else if (state.Type === 'Wait') after(time + durations.secondsToRetry, go)
    else if (state.Type === 'Task') call(state, time, go)
    else go(time)
  }
  const runAll = (branches: readonly Machine[], time: number, leave: Leave) => {
    let open = branches.length
    for (const branch of branches) {
      run(branch, branch.StartAt, time, (_, now) => {
        open--
        if (open === 0) leave(now)
      })
    }
  }
  run(machine, machine.StartAt, 0, (state, time) => {
    finished = { state, time }
  })
  for (let next = agenda.pop(); next !== undefined; next = agenda.pop()) next.act(next.time)
  return { started, ended, tries, finished }
}

/** The simulated run completes: a Choice takes its first way. */
function nextOf(state: State): string | undefined {
  if (state.Type === 'Choice') return state.Choices[0]?.Next
  return 'Next' in state ? state.Next : undefined
}

function catcherOf(state: State, error: string): string {
  const catchers = ('Catch' in state && state.Catch) || []
  const catcher = catchers.find(({ ErrorEquals }) => ErrorEquals.includes(error))
  if (catcher === undefined) throw new Error(`nobody catches ${error}`)
  return catcher.Next
}

/** The agenda is kept latest first: what is due next is at its end, first come first served. */
function placeIn(agenda: readonly { readonly time: number }[], time: number): number {
  let low = 0
  let high = agenda.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((agenda[middle]?.time ?? 0) > time) low = middle + 1
    else high = middle
  }
  return low
}
