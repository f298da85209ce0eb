/**
 * The join protocol (docs/architecture.md, "Joins") as an abstract machine, and every way to run it: a waiter and k
 * signallers over one item, all interleavings of their atomic steps, with faults.
 */
export interface Protocol {
  /** Sources of the join that have ended: a set of their ids, or a counter. */
  readonly done: 'set' | 'counter'
  readonly waiter: 'conditional write' | 'unconditional write' | 'read, then write'
  /** What a signaller knows of the token when it decides whether to send. */
  readonly token: 'whole new item of ADD' | 'read before ADD' | 'updated attributes of ADD'
  /** A signaller notes that it has signalled before it sends, and a repeated one trusts the note. */
  readonly memo: boolean
  /** The item holds the newest token only, or every token ever written. */
  readonly tokens: 'newest' | 'all'
}

export interface Faults {
  /** Invocations that die at any step and are retried; a waiter's retry has a new token, its old one is dead. */
  readonly crashes: number
  /** Further invocations at any time: of any signaller, and of the waiter with its present token. */
  readonly moreSignallers: number
  readonly moreWaiters: number
  /** A waiter given up and retried goes on nevertheless: its write lands late. */
  readonly zombies: boolean
}

export interface Verdict {
  readonly states: number
  readonly problem: 'none' | 'lost wake-up' | 'early start'
}

type Process =
  | { readonly kind: 'signaller'; readonly source: number; readonly at: string; readonly send: readonly number[] }
  | { readonly kind: 'waiter'; readonly token: number; readonly at: string }

interface State {
  readonly done: readonly number[]
  readonly tokens: readonly number[]
  readonly stored: readonly number[]
  readonly memo: readonly number[]
  /** The one token the waiting state listens to; older ones are dead. */
  readonly live: number
  readonly woken: boolean
  readonly early: boolean
  readonly left: Pick<Faults, 'crashes' | 'moreSignallers' | 'moreWaiters'>
  readonly processes: readonly Process[]
}

/** Visits every reachable state; stops at the first that breaks a promise. */
export function explore(sources: number, protocol: Protocol, faults: Faults): Verdict {
  const first: State = {
    done: [],
    tokens: [],
    stored: [],
    memo: [],
    live: 0,
    woken: false,
    early: false,
    left: faults,
    processes: [waiterOf(0), ...Array.from({ length: sources }, (_, source) => signallerOf(source))],
  }
  const seen = new Set([JSON.stringify(first)])
  const open = [first]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (state.early) return { states: seen.size, problem: 'early start' }
    if (state.processes.length === 0 && !state.woken) return { states: seen.size, problem: 'lost wake-up' }
    for (const next of nextStates(state, sources, protocol, faults.zombies)) {
      const key = JSON.stringify(next)
      if (seen.has(key)) continue
      seen.add(key)
      open.push(next)
    }
  }
  return { states: seen.size, problem: 'none' }
}

function waiterOf(token: number): Process {
  return { kind: 'waiter', token, at: 'start' }
}

function signallerOf(source: number): Process {
  return { kind: 'signaller', source, at: 'start', send: [] }
}

function nextStates(state: State, need: number, protocol: Protocol, zombies: boolean): readonly State[] {
  const steps = state.processes.map((process) =>
    process.kind === 'waiter'
      ? stepWaiter(without(state, process), process, need, protocol)
      : stepSignaller(without(state, process), process, need, protocol),
  )
  const crashes = state.left.crashes === 0 ? [] : state.processes.map((process) => crash(state, process, zombies))
  return [...steps, ...crashes, ...duplicate(state, need)]
}

function stepWaiter(rest: State, me: Process & { kind: 'waiter' }, need: number, protocol: Protocol): State {
  const written = { ...rest, tokens: protocol.tokens === 'all' ? join(rest.tokens, me.token) : [me.token] }
  switch (me.at) {
    case 'start':
      if (protocol.waiter === 'unconditional write') return written
      if (rest.done.length >= need) return withProcess(rest, { ...me, at: 'answer' })
      return protocol.waiter === 'conditional write' ? written : withProcess(rest, { ...me, at: 'write' })
    case 'write':
      return written
    default:
      return answer(rest, me.token, need)
  }
}

function stepSignaller(rest: State, me: Process & { kind: 'signaller' }, need: number, protocol: Protocol): State {
  const go = (state: State, at: string, send: readonly number[] = me.send) => withProcess(state, { ...me, at, send })
  const [next, ...later] = me.send
  switch (me.at) {
    case 'start':
      return go(
        { ...rest, stored: join(rest.stored, me.source) },
        protocol.token === 'read before ADD' ? 'read' : 'add',
      )
    case 'read':
      return go(rest, 'add', rest.tokens)
    case 'add':
      return protocol.memo && rest.memo.includes(me.source) ? rest : add(rest, me, need, protocol)
    case 'note':
      return go({ ...rest, memo: join(rest.memo, me.source) }, 'send')
    default:
      return next === undefined ? rest : go(answer(rest, next, need), 'send', later)
  }
}

function add(rest: State, me: Process & { kind: 'signaller' }, need: number, protocol: Protocol): State {
  const done = protocol.done === 'counter' ? [...rest.done, 0] : join(rest.done, me.source)
  const known = { 'whole new item of ADD': rest.tokens, 'read before ADD': me.send, 'updated attributes of ADD': [] }
  const send = done.length >= need ? known[protocol.token] : []
  return withProcess({ ...rest, done }, { ...me, at: protocol.memo ? 'note' : 'send', send })
}

/** SendTaskSuccess: an expired, unknown or used token counts as done. */
function answer(state: State, token: number, need: number): State {
  if (token !== state.live || state.woken) return state
  return { ...state, woken: true, early: state.stored.length < need }
}

/** The invocation dies (a zombie goes on) and the state's native Retry invokes again. */
function crash(state: State, process: Process, zombies: boolean): State {
  const rest = spend(without(state, process), 'crashes')
  if (process.kind === 'signaller') return withProcess(rest, signallerOf(process.source))
  const left = zombies ? withProcess(rest, process) : rest
  return state.woken ? left : withProcess({ ...left, live: state.live + 1 }, waiterOf(state.live + 1))
}

function duplicate(state: State, sources: number): readonly State[] {
  const again = Array.from({ length: sources }, (_, source) => signallerOf(source))
  return [
    ...(state.left.moreSignallers === 0 ? [] : again.map((one) => withProcess(spend(state, 'moreSignallers'), one))),
    ...(state.left.moreWaiters === 0 ? [] : [withProcess(spend(state, 'moreWaiters'), waiterOf(state.live))]),
  ]
}

function spend(state: State, fault: keyof State['left']): State {
  return { ...state, left: { ...state.left, [fault]: state.left[fault] - 1 } }
}

function without(state: State, process: Process): State {
  const at = state.processes.indexOf(process)
  return { ...state, processes: state.processes.filter((_, i) => i !== at) }
}

/** Kept sorted: who is where matters, not in which order they are listed. */
function withProcess(state: State, process: Process): State {
  const key = (one: Process) => JSON.stringify(one)
  return { ...state, processes: [...state.processes, process].sort((a, b) => (key(a) < key(b) ? -1 : 1)) }
}

function join(set: readonly number[], item: number): readonly number[] {
  return set.includes(item) ? set : [...set, item].sort()
}
