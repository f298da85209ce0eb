import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Block, Dag } from '../../../../shared/dag/dag.ts'
import type { RunEvent } from '../../../../shared/runs/event.ts'
import { isRunEnd } from '../../../../shared/runs/event-types.ts'
import type { RunFold } from '../../../../shared/runs/run-fold.ts'
import type { operations } from '../../../api/schema.generated.ts'
import { type ApiProblem, answerOf, api, asProblem } from '../../api.ts'
import { createFoldCache } from './fold-cache.ts'
import { followRun } from './run-events.ts'
import { type Voices, withDelta, withoutAnswered } from './voices.ts'

export type RunAnswer = operations['get-run']['responses'][200]['content']['application/json']
export type GraphAnswer = Extract<
  operations['get-run-graph']['responses'][200]['content']['application/json'],
  { readonly nodes: unknown }
>

/**
 * One run as the page shows it: its events as they come, what they fold to at the end or at any earlier seq (the replay
 * slider), and the server's own answer, asked again when something happened. Everything is a signal.
 */
export interface RunSession {
  readonly runId: string
  readonly events: ReadonlySignal<readonly RunEvent[]>
  /** Undefined until it was answered, or for good where it is refused (`problem`). */
  readonly answer: ReadonlySignal<RunAnswer | undefined>
  readonly problem: ReadonlySignal<ApiProblem | undefined>
  readonly isLive: ReadonlySignal<boolean>
  /** What models say now, of answers that are not recorded yet. */
  readonly voices: ReadonlySignal<Voices>
  readonly isEnded: ReadonlySignal<boolean>
  /** Undefined: at the newest event. */
  readonly shownSeq: ReadonlySignal<number | undefined>
  /** What the events up to `shownSeq` fold to: states, steps and approvals as they were then. */
  readonly fold: ReadonlySignal<RunFold>
  show(seq: number | undefined): void
  reload(): Promise<void>
  close(): void
}

export function openRunSession(runId: string): RunSession {
  const events = signal<readonly RunEvent[]>([])
  const answer = signal<RunAnswer | undefined>(undefined)
  const problem = signal<ApiProblem | undefined>(undefined)
  const isLive = signal(false)
  const voices = signal<Voices>(new Map())
  const shownSeq = signal<number | undefined>(undefined)
  const control = new AbortController()
  const foldAt = createFoldCache()
  const reload = untilAnswered(async () => {
    const params = { path: { run_id: runId } }
    try {
      const value = await answerOf(api.GET('/api/dag/runs/{run_id}', { params, signal: control.signal }))
      batch(() => {
        answer.value = value
        problem.value = undefined
      })
    } catch (error) {
      if (!control.signal.aborted) problem.value = asProblem(error)
    }
    return problem.value
  }, control.signal)
  const soon = throttled(reload, RELOAD_MS)
  const gather = gathered<RunEvent>(GATHER_MS, (fresh) => {
    events.value = [...events.value, ...fresh]
    soon()
  })
  void reload()
  void followRun({
    origin: location.origin,
    runId,
    signal: control.signal,
    onLive: (live) => {
      isLive.value = live
    },
    onDeltas: (deltas) => {
      voices.value = deltas.reduce(withDelta, voices.value)
    },
    onEvents: (fresh) => {
      // In the order in which they came among what was said.
      voices.value = withoutAnswered(voices.value, fresh)
      gather(fresh)
    },
  }).finally(() => {
    isLive.value = false
    if (!control.signal.aborted) soon()
  })
  return {
    ...{ runId, events, answer, problem, isLive, voices, shownSeq, reload },
    isEnded: computed(() => isRunEnd(events.value.at(-1)?.type ?? '')),
    fold: computed(() => foldAt(events.value, shownSeq.value)),
    show: (seq) => {
      shownSeq.value = seq
    },
    close: () => control.abort(),
  }
}

/** Asks again after a pause while the server is busy or away: a run that waits for a person sends no event to ask at. */
function untilAnswered(ask: () => Promise<ApiProblem | undefined>, signal: AbortSignal): () => Promise<void> {
  let failures = 0
  let next: ReturnType<typeof setTimeout> | undefined
  signal.addEventListener('abort', () => clearTimeout(next))
  return async function reload() {
    clearTimeout(next)
    const problem = await ask()
    failures = problem === undefined ? 0 : failures + 1
    if (problem === undefined || signal.aborted || !mayPass(problem)) return
    next = setTimeout(() => void reload(), Math.min(500 * 2 ** failures, LONGEST_PAUSE_MS))
  }
}

/** A server that is away or busy; what it refuses for good is shown once. */
function mayPass({ status }: ApiProblem): boolean {
  return status === 0 || status === 429 || status >= 500
}

const LONGEST_PAUSE_MS = 15_000
/** Nobody reads an answer a tenth of a second. */
const RELOAD_MS = 400
/** Of the time the answer of a run took, the pause before it is asked for again: that of 2,000 attempts is large. */
const RELOAD_REST = 4
/** What comes within so long is drawn at once: a busy run sends some hundred messages a second. */
const GATHER_MS = 60

function gathered<T>(ms: number, flush: (items: readonly T[]) => void): (items: readonly T[]) => void {
  let waiting: T[] = []
  return (items) => {
    if (waiting.length === 0) {
      setTimeout(() => {
        const all = waiting
        waiting = []
        flush(all)
      }, ms)
    }
    waiting = waiting.concat(items)
  }
}

/** Runs at once, then again after a pause of `ms` or more; what is called for in between is done at the end of it. */
function throttled(run: () => Promise<void>, ms: number): () => void {
  let isBusy = false
  let again = false
  const go = () => {
    if (isBusy) {
      again = true
      return
    }
    isBusy = true
    again = false
    const start = performance.now()
    void run().finally(() => {
      const rest = Math.max(ms, RELOAD_REST * (performance.now() - start))
      setTimeout(() => {
        isBusy = false
        if (again) go()
      }, rest)
    })
  }
  return go
}

/** The moment shown, while it is not the newest. */
export function shownMoment({ shownSeq, events, fold }: RunSession): ReadonlySignal<string | undefined> {
  return computed(() => (shownSeq.value === undefined ? undefined : events.value[fold.value.seq - 1]?.at))
}

/** The document the run was pinned to. The API's schema leaves its members open; the server writes what shared reads. */
export function documentOf(answer: RunAnswer | undefined): Dag | undefined {
  return answer?.dag as Dag | undefined
}

export function blockOf(answer: RunAnswer | undefined, id: string): Block | undefined {
  return documentOf(answer)?.blocks?.find((block) => block.id === id)
}

/** What every tab of a run is given. */
export interface TabProps {
  readonly session: RunSession
}
