import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiProblem, asProblem } from '../api.ts'

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

interface Change {
  readonly isBusy: boolean
  readonly problem: ApiProblem | undefined
  /** Does nothing while the one before is on its way. Undefined: refused, and `problem` says why. */
  run<T>(change: () => Promise<T>): Promise<T | undefined>
}

/** One change at a time, as a button starts it. */
export function useChange(): Change {
  const [state, setState] = useState<Pick<Change, 'isBusy' | 'problem'>>({ isBusy: false, problem: undefined })
  // State is read at the next draw; two clicks may come before it.
  const isBusy = useRef(false)
  const run = async <T>(change: () => Promise<T>): Promise<T | undefined> => {
    if (isBusy.current) return undefined
    isBusy.current = true
    setState({ isBusy: true, problem: undefined })
    try {
      const value = await change()
      setState({ isBusy: false, problem: undefined })
      return value
    } catch (error) {
      setState({ isBusy: false, problem: asProblem(error) })
      return undefined
    } finally {
      isBusy.current = false
    }
  }
  return { ...state, run }
}
