import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiProblem } from './api.ts'

/** An answer that is on its way, there, or refused. `reload` asks again and keeps what is shown until it is there. */
export interface Answer<T> {
  readonly value: T | undefined
  readonly problem: ApiProblem | undefined
  readonly isLoading: boolean
  reload(): void
}

/**
 * Asks the server when the view appears, when `key` changes, and each `every_ms` while the page is seen. An answer that
 * comes after a newer question is dropped.
 */
export function useAnswer<T>(key: string, ask: () => Promise<T>, every_ms?: number): Answer<T> {
  const [state, setState] = useState<State<T>>({ key, value: undefined, problem: undefined, isLoading: true })
  const asked = useRef(0)
  const latest = useRef(ask)
  latest.current = ask
  const load = useCallback(() => {
    asked.current += 1
    const mine = asked.current
    const settle = (next: Partial<State<T>>) => {
      if (mine !== asked.current) return
      setState((old) => ({ ...forKey(old, key), ...next, isLoading: false }))
    }
    setState((old) => ({ ...forKey(old, key), isLoading: true }))
    latest.current().then(
      (value) => settle({ value, problem: undefined }),
      (error: unknown) => settle({ problem: asProblem(error) }),
    )
  }, [key])
  useEffect(() => {
    load()
    return () => {
      asked.current += 1
    }
  }, [load])
  useEffect(() => {
    if (every_ms === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && load(), every_ms)
    return () => clearInterval(timer)
  }, [load, every_ms])
  return { ...forKey(state, key), reload: load }
}

/** Whatever went wrong, as something that can be shown. */
export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new ApiProblem({ code: 'console_failed', detail }, 0, { cause: error })
}

interface State<T> {
  readonly key: string
  readonly value: T | undefined
  readonly problem: ApiProblem | undefined
  readonly isLoading: boolean
}

/** What was answered for another key is nothing of this one. */
function forKey<T>(state: State<T>, key: string): State<T> {
  return state.key === key ? state : { key, value: undefined, problem: undefined, isLoading: true }
}
