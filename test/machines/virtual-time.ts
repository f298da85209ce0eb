import type { Machine, MapState, State, TaskState } from '../../shared/compile/asl.ts'
import type { MachinePart } from '../../shared/compile/compile-dag.ts'

/** How long things take in a simulated run, in whole units. */
export interface Durations {
  /** Every try of a block (of each of its items, of its child run); all but the last end in RetryBlock. */
  readonly tries: (block: string) => readonly number[]
  readonly secondsToRetry: number
  /** How long a person takes to decide about a block, the only time its approval state asks in an epoch. */
  readonly decision: (block: string) => number
  /** Length of the list a block fans out over. */
  readonly items?: (block: string) => number
  /** How often a bounce module runs again. */
  readonly bounces?: (module: number) => number
  /** What the exit of a bounce module signals for. */
  readonly sinks?: (module: number) => readonly string[]
}

export interface SimulatedRun {
  /** When each block's first try began and its last try ended. */
  readonly started: ReadonlyMap<string, number>
  readonly ended: ReadonlyMap<string, number>
  /** How often each block was tried; an item or a child run counts too. */
  readonly tries: ReadonlyMap<string, number>
  /** Where and when the machine ended; undefined: it hangs. */
  readonly finished: { readonly state: string; readonly time: number } | undefined
}

/** The epoch a state hands to the next one; none outside bounce modules. */
type Epoch = number | undefined

/** Called when a state is left: with an error it goes where Catch says; `e` only where it changes. */
type Leave = (time: number, result?: { readonly error: string } | { readonly e: Epoch }) => void

interface Payload {
  readonly block: string
  readonly joins?: readonly string[]
  readonly join: string
  readonly need: number
  readonly phase?: 'items' | 'close'
  readonly item?: string
  readonly module: number
}

/**
 * Runs a machine in virtual time from its text alone: states one after the other as `Next` says, a Parallel ends with
 * its last branch, a join wakes its waiter once `need` different blocks have signalled it, each epoch on its own. Knows
 * nothing of the compiler. Data is not evaluated: that `e` is handed on is shown on the interpreter.
 */
export function simulate(machine: Machine, durations: Durations, parts: readonly MachinePart[] = []): SimulatedRun {
  const agenda: { readonly time: number; readonly act: (time: number) => void }[] = []
  const after = (time: number, act: (time: number) => void) =>
    void agenda.splice(placeIn(agenda, time), 0, { time, act })
  const started = new Map<string, number>()
  const ended = new Map<string, number>()
  const tries = new Map<string, number>()
  /** Tries of a block in an epoch. */
  const passed = new Map<string, number>()
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
  const signal = (joins: readonly string[], source: string, time: number) => {
    for (const join of joins) {
      done.set(join, (done.get(join) ?? new Set()).add(source))
      wake(join, time)
    }
  }
  const begin = (block: string, time: number) => {
    if (!started.has(block)) started.set(block, time)
    tries.set(block, (tries.get(block) ?? 0) + 1)
  }
  /** Begins a try; answers when it is over and whether it was the last of this epoch. */
  const attempt = (block: string, e: Epoch, time: number) => {
    begin(block, time)
    const key = inEpoch(block, e)
    const nth = (passed.get(key) ?? 0) + 1
    passed.set(key, nth)
    const all = durations.tries(block)
    return { over: time + (all[nth - 1] ?? 0), last: nth >= all.length }
  }
  const functions: Readonly<Record<string, (payload: Payload, time: number, e: Epoch, leave: Leave) => void>> = {
    RunBlock({ block, joins = [], phase, item }, time, e, leave) {
      const keys = joins.map((join) => inEpoch(join, e))
      const close = (now: number, last: boolean) => {
        if (!last) return leave(now, { error: 'RetryBlock' })
        ended.set(block, now)
        signal(keys, block, now)
        leave(now)
      }
      if (phase === 'items') {
        if (!started.has(block)) started.set(block, time)
        return after(time, leave)
      }
      if (phase === 'close') {
        const tried = passed.get(inEpoch(block, e))
        const last = tried === undefined || tried >= durations.tries(block).length
        return after(time, (now) => close(now, last))
      }
      if (item !== undefined) {
        begin(block, time)
        return after(time + (durations.tries(block)[0] ?? 0), leave)
      }
      const { over, last } = attempt(block, e, time)
      after(over, (now) => close(now, last))
    },
    OpenChild: ({ block }, time, e, leave) => after(attempt(block, e, time).over, leave),
    WaitJoin({ join, need }, time, e, leave) {
      waiting.set(inEpoch(join, e), { need, leave })
      wake(inEpoch(join, e), time)
    },
    RequestApproval({ block }, time, e, leave) {
      const wait = decided.has(inEpoch(block, e)) ? 0 : durations.decision(block)
      decided.add(inEpoch(block, e))
      after(time + wait, leave)
    },
    CloseModule({ module, joins = [] }, time, e = 0, leave) {
      const again = e < (durations.bounces?.(module) ?? 0)
      for (const source of (!again && durations.sinks?.(module)) || []) signal(joins, source, time)
      after(time, () => leave(time, { e: again ? e + 1 : undefined }))
    },
    Settle: (_, time, _e, leave) => after(time, leave),
  }
  const call = ({ Arguments }: TaskState, time: number, e: Epoch, leave: Leave) => {
    const { FunctionName, Payload } = Arguments as { FunctionName: string; Payload: Payload }
    functions[FunctionName.slice(2, -1)]?.(Payload, time, e, leave)
  }
  const run = (
    branch: Machine,
    name: string,
    time: number,
    from: Epoch,
    leave: (state: string, time: number) => void,
  ) => {
    const state = branch.States[name]
    if (state === undefined) throw new Error(`no state ${name} here`)
    const go: Leave = (now, result = { e: from }) => {
      const next = 'error' in result ? catcherOf(state, result.error) : nextOf(state, result.e)
      if (next === undefined) leave(name, now)
      else run(branch, next, now, 'error' in result ? from : result.e, leave)
    }
    if (state.Type === 'Parallel') runAll(state.Branches, state.Branches.length, time, from, go)
    else if (state.Type === 'Map') runMap(state, time, from, go)
    else if (state.Type === 'Wait') after(time + durations.secondsToRetry, go)
    else if (state.Type === 'Task') runTask(state, time, from, go)
    else go(time)
  }
  const runTask = (state: TaskState, time: number, from: Epoch, leave: Leave) => {
    const { StateMachineArn } = state.Arguments as { readonly StateMachineArn?: string }
    const part = parts.find(({ key }) => StateMachineArn === `\${${key}}`)?.definition
    if (part === undefined) call(state, time, from, leave)
    else run(part, part.StartAt, time, undefined, (_, now) => leave(now))
  }
  const runMap = ({ ItemProcessor, MaxConcurrency }: MapState, time: number, from: Epoch, leave: Leave) => {
    const block = ItemProcessor.StartAt
    const items = Array.from({ length: durations.items?.(block) ?? 0 }, () => ItemProcessor)
    runAll(items, MaxConcurrency ?? 0, time, from, leave)
  }
  const runAll = (branches: readonly Machine[], width: number, time: number, from: Epoch, leave: Leave) => {
    let next = 0
    let open = branches.length
    if (open === 0) return after(time, leave)
    const begin = (now: number) => {
      const branch = branches[next]
      next += 1
      if (branch === undefined) return
      run(branch, branch.StartAt, now, from, (_, end) => {
        open -= 1
        if (open === 0) leave(end)
        else begin(end)
      })
    }
    for (let lane = 0; lane < Math.min(width, branches.length); lane++) begin(time)
  }
  run(machine, machine.StartAt, 0, undefined, (state, time) => {
    finished = { state, time }
  })
  for (let next = agenda.pop(); next !== undefined; next = agenda.pop()) next.act(next.time)
  return { started, ended, tries, finished }
}

function inEpoch(key: string, e: Epoch): string {
  return e === undefined ? key : `${key}~${e}`
}

/** The exit of a module leads back while there is a next epoch; the run itself completes, its Choice takes the first way. */
function nextOf(state: State, e: Epoch): string | undefined {
  if (state.Type !== 'Choice') return 'Next' in state ? state.Next : undefined
  const [rule] = state.Choices
  const isExit = rule?.Condition === '{% $exists($states.input.e) %}'
  return isExit && e === undefined ? state.Default : rule?.Next
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
