import { type ReadonlySignal, signal } from '@preact/signals'
import { type ApiProblem, answerOf, api, asProblem } from './api.ts'

interface Polled<T> {
  readonly value: ReadonlySignal<T | undefined>
  readonly problem: ReadonlySignal<ApiProblem | undefined>
  /** Asks at once; what is shown stays until the answer is there. */
  reload(): Promise<void>
}

/** Asks the place now, each `every_ms` while the page is seen, and when it is seen again. For the whole life of the page. */
function polled<T>(ask: () => Promise<T>, every_ms: number): Polled<T> {
  const value = signal<T | undefined>(undefined)
  const problem = signal<ApiProblem | undefined>(undefined)
  let asked = 0
  const reload = async () => {
    asked += 1
    const mine = asked
    try {
      const next = await ask()
      if (mine !== asked) return
      value.value = next
      problem.value = undefined
    } catch (error) {
      if (mine === asked) problem.value = asProblem(error)
    }
  }
  const whenSeen = () => document.visibilityState === 'visible' && void reload()
  void reload()
  setInterval(whenSeen, every_ms)
  document.addEventListener('visibilitychange', whenSeen)
  return { value, problem, reload }
}

/** Whether the place answers, and which version it is. */
export const health = polled(() => answerOf(api.GET('/api/health')), 5_000)

/** Caps with their sources, and whether starts are on hold. */
export const safety = polled(() => answerOf(api.GET('/api/dag/safety')), 10_000)

/** What people are asked now, without the values: the inbox, and the badge in the menu. */
export const pendingApprovals = polled(
  () =>
    answerOf(api.GET('/api/dag/approvals', { params: { query: { status: 'pending', values: 'refs', limit: 100 } } })),
  4_000,
)
