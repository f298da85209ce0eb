import { type ReadonlySignal, signal } from '@preact/signals'
import type { ApiProblem } from '../api.ts'
import { asProblem } from '../use-answer.ts'

export interface Polled<T> {
  readonly value: ReadonlySignal<T | undefined>
  readonly problem: ReadonlySignal<ApiProblem | undefined>
  /** Asks at once; what is shown stays until the answer is there. */
  reload(): Promise<void>
}

/** Asks the place now, each `every_ms` while the page is seen, and when it is seen again. For the whole life of the page. */
export function polled<T>(ask: () => Promise<T>, every_ms: number): Polled<T> {
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
